"""Shared fixtures."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

for suite in ("vectors", "catalog_documents", "catalog_passages", "catalog_records", "catalog_base", "graph"):
    pytest.register_assert_rewrite(f"kedge.testing.{suite}")

settings.register_profile(
    "kedge", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("kedge")
