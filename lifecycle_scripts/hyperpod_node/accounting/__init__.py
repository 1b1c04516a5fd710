"""Accounts, shares and limits of Slurm: what is declared, what the database has, and the way between them."""
