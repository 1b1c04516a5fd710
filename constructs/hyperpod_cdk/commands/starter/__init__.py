"""A first configuration: questions, answers, and the YAML made of them."""
