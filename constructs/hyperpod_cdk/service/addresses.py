"""How many addresses of a subnet a node takes."""

from hyperpod_cdk.service import instance_types


def addresses_per_node(instance_type: str) -> int:
    """Addresses that one Slurm node of a type takes from its subnet: one a network card.

    The documentation gives the figure for P5 alone, 32, which is its number of cards
    (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html, 2026-10); other
    types are derived from their cards. A type that the catalogue does not know counts as one address.
    """
    known = instance_types.find(instance_type)
    return known.network_cards if known else 1
