-- The calibration is tested for spot and for contract quotes apart: the type that a check is about (docs/decisions/0077-the-calibration-alarm.md).
-- Checks of before are about all quotes.
alter table calibration_checks add column rate_type text check (rate_type in ('spot', 'contract'));
