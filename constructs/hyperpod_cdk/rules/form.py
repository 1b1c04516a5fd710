"""HP0xx: the form of the YAML file. Found while it is read, before any other rule can run."""

from hyperpod_cdk.rules.rule import Rule

YAML_1_2 = "https://yaml.org/spec/1.2.2/"

BAD_YAML = Rule(
    code="HP001",
    title="the file is no YAML that can be read",
    why="nothing can be made of a file whose structure is unclear",
    fix="mend the line; indentation by spaces, a space after each colon",
    source=YAML_1_2,
)
DUPLICATE_KEY = Rule(
    code="HP002",
    title="a key stands twice in one mapping",
    why="only one of the two values could count, and most readers drop the other without a word",
    fix="keep one of the two",
    source=f"{YAML_1_2}#3213-node-comparison",
)
UNKNOWN_KEY = Rule(
    code="HP003",
    title="a key that nothing reads",
    why="a misspelt setting would silently keep its default",
    fix="correct the key or remove it; `hyperpod-cdk schema` has them all",
    source="hyperpod_cdk.spec",
)
MISSING_KEY = Rule(
    code="HP004",
    title="a key that has to be there is missing",
    why="it has no default that fits everybody",
    fix="add it",
    source="hyperpod_cdk.spec",
)
WRONG_TYPE = Rule(
    code="HP005",
    title="a value of another type than the field takes",
    why="a value that is converted by guessing is a surprise later",
    fix="write the value in the type that is allowed",
    source="hyperpod_cdk.spec",
)
UNKNOWN_VALUE = Rule(
    code="HP006",
    title="a value outside the closed set of its field",
    why="the service knows these values and no others",
    fix="use one of the allowed values",
    source="hyperpod_cdk.spec",
)
FORM = (BAD_YAML, DUPLICATE_KEY, UNKNOWN_KEY, MISSING_KEY, WRONG_TYPE, UNKNOWN_VALUE)
