"""Findings as people, programs and code hosts read them."""
