"""The commands of ``hyperpod-cdk``, a module each; :mod:`hyperpod_cdk.commands.table` lists them."""
