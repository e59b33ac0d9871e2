-- What GoogleSQL computes differently from DuckDB, written once. Names begin with bq_.
CREATE MACRO bq_divide(a, b) AS CASE WHEN b = 0 AND a IS NOT NULL THEN error(concat('division by zero: ', a, ' / ', b)) ELSE CAST(a AS DOUBLE) / CAST(b AS DOUBLE) END;
CREATE MACRO bq_safe_divide(a, b) AS CASE WHEN b = 0 THEN NULL ELSE CAST(a AS DOUBLE) / CAST(b AS DOUBLE) END;
-- NUMERIC is exact: both sides as whole billionths, rounded half away from zero.
CREATE MACRO bq_billionths(x) AS CAST(CAST(x AS DECIMAL(38, 9)) * CAST(1000000000 AS DECIMAL(10, 0)) AS HUGEINT);
CREATE MACRO bq_from_billionths(x) AS CAST(CAST(x AS DECIMAL(38, 0)) * CAST(0.000000001 AS DECIMAL(9, 9)) AS DECIMAL(38, 9));
CREATE MACRO bq_round_quotient(a, b) AS (a // b) + CASE WHEN 2 * abs(a % b) >= abs(b) THEN CASE WHEN (a < 0) = (b < 0) THEN 1 ELSE -1 END ELSE 0 END;
CREATE MACRO bq_numeric_divide(a, b) AS CASE WHEN b = 0 AND a IS NOT NULL THEN error(concat('division by zero: ', a, ' / ', b)) ELSE bq_from_billionths(bq_round_quotient(bq_billionths(a) * 1000000000, bq_billionths(b))) END;
CREATE MACRO bq_safe_numeric_divide(a, b) AS CASE WHEN b = 0 THEN NULL ELSE bq_from_billionths(bq_round_quotient(bq_billionths(a) * 1000000000, bq_billionths(b))) END;
CREATE MACRO bq_numeric_mean(total, number) AS CASE WHEN number = 0 THEN NULL ELSE bq_from_billionths(bq_round_quotient(bq_billionths(total), CAST(number AS HUGEINT))) END;
CREATE MACRO bq_div(a, b) AS CASE WHEN b = 0 AND a IS NOT NULL THEN error(concat('division by zero: DIV(', a, ', ', b, ')')) ELSE a // b END;
CREATE MACRO bq_mod(a, b) AS CASE WHEN b = 0 AND a IS NOT NULL THEN error(concat('division by zero: MOD(', a, ', ', b, ')')) ELSE a % b END;
CREATE MACRO bq_finite(x) AS CASE WHEN isinf(x) THEN error('Floating point error: overflow') ELSE x END;
CREATE MACRO bq_whole(x) AS CAST(round(x) AS BIGINT);
CREATE MACRO bq_is_int(s) AS regexp_full_match(s, '\s*[-+]?[0-9]+\s*');
CREATE MACRO bq_string_to_int(s) AS CASE WHEN bq_is_int(s) THEN CAST(trim(s) AS BIGINT) WHEN s IS NOT NULL THEN error('Bad int64 value: ' || s) END;
CREATE MACRO bq_safe_string_to_int(s) AS CASE WHEN bq_is_int(s) THEN TRY_CAST(trim(s) AS BIGINT) END;
CREATE MACRO bq_string_to_bool(s) AS CASE lower(s) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE ELSE CASE WHEN s IS NOT NULL THEN error('Bad bool value: ' || s) END END;
CREATE MACRO bq_safe_string_to_bool(s) AS CASE lower(s) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END;
CREATE MACRO bq_float_text(x) AS CASE WHEN isinf(x) OR isnan(x) THEN CAST(x AS VARCHAR) WHEN x = 0 THEN '0' WHEN CAST(printf('%.15g', x) AS DOUBLE) = x THEN printf('%.15g', x) ELSE printf('%.17g', x) END;
CREATE MACRO bq_float_shown(x) AS CASE WHEN regexp_full_match(bq_float_text(x), '-?[0-9]+') THEN bq_float_text(x) || '.0' ELSE bq_float_text(x) END;
CREATE MACRO bq_sqrt(x) AS CASE WHEN x < 0 THEN error(concat('Argument to SQRT cannot be negative: ', x)) ELSE sqrt(x) END;
CREATE MACRO bq_ln(x) AS CASE WHEN x <= 0 THEN error(concat('Floating point error in function: LN(', x, ')')) ELSE ln(x) END;
CREATE MACRO bq_log10(x) AS CASE WHEN x <= 0 THEN error(concat('Floating point error in function: LOG10(', x, ')')) ELSE log10(x) END;
CREATE MACRO bq_numeric_text(x) AS regexp_replace(CAST(x AS VARCHAR), '\.?0*$', '');
CREATE MACRO bq_moment_text(t) AS strftime(t, '%Y-%m-%d %H:%M:%S') || CASE WHEN microsecond(t) % 1000000 = 0 THEN '' WHEN microsecond(t) % 1000 = 0 THEN strftime(t, '.%g') ELSE strftime(t, '.%f') END;
CREATE MACRO bq_time_text(t) AS left(CAST(t AS VARCHAR), 8) || CASE WHEN microsecond(t) % 1000000 = 0 THEN '' WHEN microsecond(t) % 1000 = 0 THEN printf('.%03d', (microsecond(t) % 1000000) // 1000) ELSE printf('.%06d', microsecond(t) % 1000000) END;
CREATE MACRO bq_substr(s, p) AS CASE WHEN p > 0 THEN substr(s, p) WHEN p = 0 OR -p >= length(s) THEN s ELSE substr(s, p) END;
CREATE MACRO bq_substr_length(s, p, n) AS CASE WHEN n < 0 THEN error('Third argument in SUBSTR() cannot be negative') ELSE left(bq_substr(s, p), n) END;
CREATE MACRO bq_left(s, n) AS CASE WHEN n < 0 THEN error('Second argument in LEFT() cannot be negative') ELSE left(s, n) END;
CREATE MACRO bq_right(s, n) AS CASE WHEN n < 0 THEN error('Second argument in RIGHT() cannot be negative') ELSE right(s, n) END;
CREATE MACRO bq_item(a, i) AS CASE WHEN i < 0 OR i >= len(a) THEN error(concat('Array index ', i, ' is out of bounds')) ELSE a[i + 1] END;
CREATE MACRO bq_safe_item(a, i) AS CASE WHEN i >= 0 THEN a[i + 1] END;
-- A TIMESTAMP as the DATETIME that clocks show in UTC, and back; the calendar library would take four times as long.
CREATE MACRO bq_utc(t) AS make_timestamp(epoch_us(t));
CREATE MACRO bq_moment(d) AS make_timestamptz(epoch_us(d));
-- Weeks: k is the first day, 0 for Sunday.
CREATE MACRO bq_week_start(d, k) AS CAST(d AS DATE) - CAST((dayofweek(d) - k + 7) % 7 AS INTEGER);
CREATE MACRO bq_week(d, k) AS (dayofyear(d) + 6 - (dayofweek(d) - k + 7) % 7) // 7;
CREATE MACRO bq_isoyear_start(d) AS CAST(date_trunc('week', make_date(isoyear(d), 1, 4)) AS DATE);
