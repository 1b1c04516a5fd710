"""Answers to the questions of ``hyperpod-cdk init``, given on the command line, asked for, or defaults."""

from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_cdk.commands.starter.questions import QUESTIONS, Question
from hyperpod_cdk.commands.starter.readers import Answers

Ask = Callable[[Question, str | None, str | None], str]
"""Puts a question: with its default, and with what was wrong with the answer before, if anything was."""


def answer(given: Mapping[str, str], ask: Ask | None = None) -> dict[str, Any]:
    """All answers.

    Args:
        given: texts by the names of questions, which are then not asked.
        ask: puts the others; None: the defaults are taken.

    Raises:
        ValueError: with every given text that is wrong, a line each.
    """
    answers: dict[str, Any] = {}
    faults: list[str] = []
    for question in QUESTIONS:
        default = question.default(answers)
        text = given.get(question.name)
        try:
            answers[question.name] = _answer(question, text, default, answers, ask)
        except ValueError as fault:
            faults.append(f"{question.option}: {fault}")
            # the questions after it are looked at as if it had been answered well
            answers[question.name] = question.read(default, answers) if default is not None else None
    if faults:
        raise ValueError("\n".join(faults))
    return answers


def _answer(
    question: Question, text: str | None, default: str | None, answers: Answers, ask: Ask | None
) -> Any:
    if text is not None:
        if question.only and not question.asked(answers):
            raise ValueError(f"means nothing here; it is for {question.only}")
        return question.read(text, answers)
    if not question.asked(answers):
        return None
    return question.read(default or "", answers) if ask is None else _asked(question, default, answers, ask)


def _asked(question: Question, default: str | None, answers: Answers, ask: Ask) -> Any:
    fault = None
    while True:
        try:
            return question.read(ask(question, default, fault).strip(), answers)
        except ValueError as wrong:
            fault = str(wrong)
