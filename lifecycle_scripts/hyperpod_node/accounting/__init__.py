"""Accounts, shares and limits of Slurm: what is declared, what the database has, and the way between them."""

ADVICE = "see `systemctl status slurmdbd`, then run `hyperpod-accounting apply` on the controller"
