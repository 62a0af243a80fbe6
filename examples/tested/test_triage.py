"""The script beside this, tested as any module is; no model is asked."""

import pytest
from triage import triage, urgent

from runtime_support import configure
from runtime_support.testing import Scripted

FIRE = "Of high severity: the server is on fire"
LOGIN = "How do I log in?"


@pytest.mark.parametrize(("mail", "severity"), [(FIRE, "high"), (LOGIN, "low")])
def test_how_severe_a_mail_is(saft_replay, mail, severity):
    assert triage(mail).severity == severity


def test_urgent_mails_keep_their_order():
    read = [("Fire", "high"), ("Login", "low"), ("Flood", "high")]
    model = Scripted([{"title": title, "severity": severity} for title, severity in read])
    with configure(provider=model):
        assert urgent(["one", "two", "three"]) == ["Fire", "Flood"]


def test_a_wrong_answer_goes_back_with_the_reason():
    wrong, right = ({"title": "Fire", "severity": word} for word in ("terrible", "high"))
    model = Scripted([wrong, right])
    with configure(provider=model):
        assert triage(FIRE).severity == "high"
    assert "severity" in model.requests[1].messages[-1]["content"]
