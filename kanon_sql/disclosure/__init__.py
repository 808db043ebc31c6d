"""Disclosure: what a release tells those who attack it, and how easily persons are found again.

``attacks`` tries what the literature describes and counts who is exposed. ``risk`` measures re-identification.
``beliefs`` judges what an attacker with a background distribution learns, and ``invariance`` what two versions of a
changing table tell together. Each is a door of its own, so that a verb loads only the one that it needs.
"""

__all__ = ["attacks", "beliefs", "invariance", "risk"]
