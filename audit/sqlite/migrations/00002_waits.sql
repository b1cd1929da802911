-- Calls that wait: the type tool.wait, recorded before leave is asked for. What came last of a call
-- says how it stands.

-- +goose Up
DROP VIEW tool_calls;
CREATE VIEW tool_calls AS
SELECT
  s.call, s.time, s.run, s.thread, s.agent, s.user, s.tool, s.action,
  coalesce(e.decision, s.decision) AS decision,
  coalesce(e.rule, s.rule) AS rule,
  coalesce(e.reasons, s.reasons) AS reasons,
  coalesce(e.status,
    CASE e.type WHEN 'tool.end' THEN 'success' WHEN 'tool.error' THEN 'error' WHEN 'tool.denied' THEN 'denied' WHEN 'tool.start' THEN 'started' END,
    s.status,
    CASE s.type WHEN 'tool.denied' THEN 'denied' WHEN 'tool.wait' THEN 'waiting' ELSE 'started' END) AS status,
  round(1000 * coalesce(e.duration, s.duration), 3) AS duration_ms,
  s.input,
  coalesce(e.output, s.output) AS output,
  coalesce(e.error, s.error) AS error
FROM audit_events s
LEFT JOIN audit_events e ON e.seq = (
  SELECT max(o.seq) FROM audit_events o
  WHERE o.run = s.run AND o.call = s.call AND o.seq > s.seq AND o.type IN ('tool.start', 'tool.end', 'tool.error', 'tool.denied'))
WHERE s.type IN ('tool.wait', 'tool.start', 'tool.denied') AND s.seq = (
  SELECT min(o.seq) FROM audit_events o
  WHERE o.run = s.run AND o.call = s.call AND o.type IN ('tool.wait', 'tool.start', 'tool.denied'));

-- +goose Down
DROP VIEW tool_calls;
CREATE VIEW tool_calls AS
SELECT
  s.call, s.time, s.run, s.thread, s.agent, s.user, s.tool, s.action,
  coalesce(e.decision, s.decision) AS decision,
  coalesce(e.rule, s.rule) AS rule,
  coalesce(e.reasons, s.reasons) AS reasons,
  coalesce(e.status,
    CASE e.type WHEN 'tool.end' THEN 'success' WHEN 'tool.error' THEN 'error' WHEN 'tool.denied' THEN 'denied' END,
    s.status,
    CASE s.type WHEN 'tool.denied' THEN 'denied' ELSE 'started' END) AS status,
  round(1000 * coalesce(e.duration, s.duration), 3) AS duration_ms,
  s.input,
  coalesce(e.output, s.output) AS output,
  coalesce(e.error, s.error) AS error
FROM audit_events s
LEFT JOIN audit_events e ON e.seq = (
  SELECT max(o.seq) FROM audit_events o
  WHERE o.run = s.run AND o.call = s.call AND o.seq > s.seq AND o.type IN ('tool.end', 'tool.error', 'tool.denied'))
WHERE s.type IN ('tool.start', 'tool.denied') AND s.seq = (
  SELECT min(o.seq) FROM audit_events o
  WHERE o.run = s.run AND o.call = s.call AND o.type IN ('tool.start', 'tool.denied'));
