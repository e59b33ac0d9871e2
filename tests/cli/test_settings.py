"""A setting that cannot be meant is refused when it is read, not in the middle of an answer."""

from __future__ import annotations

import pytest

from askhouse.errors import SettingsError
from askhouse.settings import load_settings


@pytest.mark.parametrize("zone", ["Mars/Base", "../etc/passwd", "/etc/localtime", "x" * 300])
def test_a_time_zone_that_does_not_exist(zone: str) -> None:
    with pytest.raises(SettingsError, match=r"ASKHOUSE_TIME_ZONE.*no such IANA time zone"):
        load_settings(environ={"ASKHOUSE_TIME_ZONE": zone})


@pytest.mark.parametrize("day", ["0001-01-01", "1899-12-31", "2201-01-01", "9999-12-31"])
def test_a_day_that_is_nobodys_today(day: str) -> None:
    with pytest.raises(SettingsError, match=r"ASKHOUSE_TODAY.*1900 to 2200"):
        load_settings(environ={"ASKHOUSE_TODAY": day})


def test_a_folder_that_has_no_name_in_utf_8() -> None:
    with pytest.raises(SettingsError, match=r"ASKHOUSE_HOME.*not UTF-8"):
        load_settings(environ={"ASKHOUSE_HOME": "/tmp/\udcff"})


def test_zones_and_days_that_exist() -> None:
    settings = load_settings(environ={"ASKHOUSE_TIME_ZONE": "Asia/Tokyo", "ASKHOUSE_TODAY": "2013-06-30"}).settings
    assert settings.time_zone == "Asia/Tokyo" and str(settings.today) == "2013-06-30"
