"""Twins of the ports, for tests of omnislash and of programs that embed it.

`FixedClock` stands in for the clock, `CountingEmbedder` for the model of the search, `ScriptedModel` for the one that
writes summaries, `ScriptedChatModel` for the one that runs a turn.
The disks stand in for :class:`omnislash.store.disk.Disk`: they count its calls, end the process at one of them, let one
fail, run something beside one, or keep only what a power cut would leave.
They change a real directory, so what a test finds there afterwards is what a user would find.
"""

from __future__ import annotations

from omnislash.testing.chat_models import ChatRequest, ScriptedCall, ScriptedChatModel, ScriptedSilence
from omnislash.testing.clock import FixedClock
from omnislash.testing.disks import (
    Call,
    CountingDisk,
    FailingDisk,
    InterruptingDisk,
    NoExchangeDisk,
    StoppingDisk,
    WrappedDisk,
)
from omnislash.testing.embedders import CountingEmbedder
from omnislash.testing.models import ScriptedModel
from omnislash.testing.power import PowerLossDisk

__all__ = [
    "Call",
    "ChatRequest",
    "CountingDisk",
    "CountingEmbedder",
    "FailingDisk",
    "FixedClock",
    "InterruptingDisk",
    "NoExchangeDisk",
    "PowerLossDisk",
    "ScriptedCall",
    "ScriptedChatModel",
    "ScriptedModel",
    "ScriptedSilence",
    "StoppingDisk",
    "WrappedDisk",
]
