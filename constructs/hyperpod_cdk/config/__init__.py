"""YAML files read into the spec; needs the extra ``cli``."""

from hyperpod_cdk.config.reader import Config, ConfigError, load, read, read_text
from hyperpod_cdk.config.schema import schema

__all__ = ["Config", "ConfigError", "load", "read", "read_text", "schema"]
