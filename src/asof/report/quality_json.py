"""A report as plain values for programs, under keys that stay."""

from dataclasses import asdict

from asof.catalog.derive import record_uri
from asof.clock import SECOND, iso, maybe_iso
from asof.coherence.quality_report import Report, Stretch, offenders
from asof.coherence.verdict import Best, HostTrust, PageVerdict
from asof.model import CoherencePlan, Evidence
from asof.report.quality_advice import advice


def report_json(report: Report, *, most: int = 100) -> dict[str, object]:
    """Plain values under stable keys: at most so many pages of each cause, and not each by itself.

    `coherence.measured` is false as long as the figures beside it say nothing: before a crawl that
    is to visit everything twice has turned.
    """
    measured, plan, best = report.measurement, report.planned, report.best
    return {
        "crawls": [each.facts() | {"imported": each.imported} for each in report.crawls],
        "part": report.part or None,
        "coherence": _coherence_json(report),
        "plan": None if plan is None else _plan_json(plan, measured.c),
        "best": None if best is None else _best_json(best, len(measured.pages)),
        "curve": [
            {
                "at": iso(point.at),
                "provable": _rounded(point.provable),
                "expected": _rounded(point.expected),
            }
            for point in report.curve
        ],
        "incoherent": [
            {
                "cause": group.name,
                "grade": group.grade.value,
                "count": len(group.pages),
                "pages": [page_json(page) for page in group.pages[:most]],
            }
            for group in offenders(measured.pages)
        ],
        "hosts": [_trust_json(report.host_trust[host]) for host in sorted(report.host_trust)],
        "advice": list(advice(report)),
    }


def _coherence_json(report: Report) -> dict[str, object]:
    measured, whole = report.measurement, report.whole
    return {
        "measured": report.is_measured,
        "mode": measured.mode.value,
        "reference": iso(measured.reference),
        "c": _rounded(measured.c),
        "c_in_substance": _rounded(measured.c_in_substance),
        "pages": len(measured.pages),
        "coherent": report.coherent,
        "grades": {grade.value: count for grade, count in measured.counts.items()},
        "whole": {"answer": whole.answer, "stretch": _stretch_json(whole.stretch)},
        "observable": _stretch_json(report.observable),
        "is_observable": report.is_observable,
        "errors": report.errors,
        "returns": asdict(report.returns),
    }


def _plan_json(plan: CoherencePlan, measured: float | None) -> dict[str, object]:
    return {
        "mode": plan.mode,
        "name": plan.plan,
        "eta": plan.eta,
        "pages": plan.pages,
        "turn": maybe_iso(plan.turn),
        "expected": _rounded(plan.expected),
        "measured": _rounded(measured),
    }


def _best_json(best: Best, pages: int) -> dict[str, object]:
    return {
        "since": iso(best.since),
        "until": iso(best.until),
        "count": best.count,
        "share": _rounded(best.count / pages) if pages else None,
    }


def page_json(page: PageVerdict) -> dict[str, object]:
    return {
        "url": page.url,
        "coherent": page.is_coherent,
        "grade": page.grade.value,
        "reason": page.reason.value or None,
        "category": page.category,
        "since": iso(page.since),
        "until": iso(page.until),
        "before": _evidence_json(page.before),
        "after": _evidence_json(page.after),
    }


def _evidence_json(evidence: Evidence | None) -> dict[str, object] | None:
    if evidence is None:
        return None
    return {
        "at": iso(evidence.at),
        "proof": evidence.proof.value,
        "record_id": record_uri(evidence.record_id),
    }


def _trust_json(trust: HostTrust) -> dict[str, object]:
    return {
        "host": trust.host,
        "dates": {
            "trusted": trust.trusts_dates,
            "right": trust.dates_right,
            "wrong": trust.dates_wrong,
            "doubted": len(trust.doubted),
        },
        "validators": {
            "trusted": trust.trusts_validators,
            "right": trust.validators_right,
            "wrong": trust.validators_wrong,
        },
        "skew_seconds": None if trust.skew is None else trust.skew / SECOND,
    }


def _stretch_json(stretch: Stretch | None) -> dict[str, object] | None:
    return None if stretch is None else {"since": iso(stretch[0]), "until": iso(stretch[1])}


def _rounded(value: float | None) -> float | None:
    # A share that is not a number (no rates are known) is not a value of JSON.
    return None if value is None or value != value else round(value, 6)
