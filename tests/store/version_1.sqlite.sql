BEGIN TRANSACTION;
CREATE TABLE approval_requests (
	project TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	checkpoint_id TEXT NOT NULL, 
	interrupt_id TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	status TEXT NOT NULL, 
	requested_at DATETIME NOT NULL, 
	requested_by TEXT NOT NULL, 
	payload JSON NOT NULL, 
	expires_at DATETIME, 
	decided_at DATETIME, 
	decided_by TEXT, 
	decided_by_system_user TEXT, 
	decision TEXT, 
	note TEXT, 
	value JSON, 
	applied_at DATETIME, 
	CONSTRAINT pk_approval_requests PRIMARY KEY (project, request_id), 
	CONSTRAINT fk_approval_requests_runs FOREIGN KEY(project, run_id) REFERENCES runs (project, run_id), 
	CONSTRAINT uq_approval_requests_pause UNIQUE (project, thread_id, checkpoint_id, interrupt_id)
);
INSERT INTO "approval_requests" VALUES('default','q-1','plan','r-1','th-r-1','cp-q-1','i-1','0000000000000000000000000000000000000000000000000000000000000001','edited','2026-03-01 12:00:00.123456','ana','{"plan": {"goal": "Know the stock", "rationale": "Look, then say", "version": 1, "hash": "0000000000000000000000000000000000000000000000000000000000000001", "parent_hash": null, "trigger": null, "repairs": ["code_fence"], "source": "model", "estimate": {"calls": 4}, "steps": [{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]}, "task": "\u2026"}',NULL,'2026-03-01 12:01:00.123456','li','root','edit',NULL,'{"goal": "Know the stock", "rationale": "Look, then say", "version": 2, "hash": "0000000000000000000000000000000000000000000000000000000000000002", "parent_hash": "0000000000000000000000000000000000000000000000000000000000000001", "trigger": "edit", "repairs": ["code_fence"], "source": "person", "estimate": {"calls": 4}, "steps": [{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]}',NULL);
CREATE TABLE artifacts (
	project TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	step_id TEXT, 
	media_type TEXT NOT NULL, 
	bytes BIGINT NOT NULL, 
	sha256 TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_artifacts PRIMARY KEY (project, run_id, name), 
	CONSTRAINT fk_artifacts_runs FOREIGN KEY(project, run_id) REFERENCES runs (project, run_id)
);
INSERT INTO "artifacts" VALUES('default','r-1','a.txt','s2','text/plain',3,'0000000000000000000000000000000000000000000000000000000000000000','2026-03-01 12:01:02.123456');
CREATE TABLE attempts (
	project TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	plan_version INTEGER NOT NULL, 
	step_id TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	started_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	error TEXT, 
	CONSTRAINT pk_attempts PRIMARY KEY (project, run_id, plan_version, step_id, attempt), 
	CONSTRAINT fk_attempts_steps FOREIGN KEY(project, run_id, plan_version, step_id) REFERENCES steps (project, run_id, plan_version, step_id)
);
INSERT INTO "attempts" VALUES('default','r-1',2,'s2',1,'running','2026-03-01 12:01:01.123456',NULL,NULL);
CREATE TABLE plans (
	project TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	parent_hash TEXT, 
	goal TEXT NOT NULL, 
	rationale TEXT NOT NULL, 
	steps JSON NOT NULL, 
	"trigger" TEXT, 
	repairs JSON NOT NULL, 
	source TEXT NOT NULL, 
	estimate JSON, 
	created_at DATETIME NOT NULL, 
	created_by TEXT NOT NULL, 
	CONSTRAINT pk_plans PRIMARY KEY (project, run_id, version), 
	CONSTRAINT fk_plans_runs FOREIGN KEY(project, run_id) REFERENCES runs (project, run_id)
);
INSERT INTO "plans" VALUES('default','r-1',1,'0000000000000000000000000000000000000000000000000000000000000001',NULL,'Know the stock','Look, then say','[{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]',NULL,'["code_fence"]','model','{"calls": 4}','2026-03-01 12:00:01.123456','model');
INSERT INTO "plans" VALUES('default','r-1',2,'0000000000000000000000000000000000000000000000000000000000000002','0000000000000000000000000000000000000000000000000000000000000001','Know the stock','Look, then say','[{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]','edit','["code_fence"]','person','{"calls": 4}','2026-03-01 12:01:00.123456','li');
CREATE TABLE records_alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT records_alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "records_alembic_version" VALUES('0001');
CREATE TABLE run_events (
	project TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	kind TEXT NOT NULL, 
	step_id TEXT, 
	text TEXT NOT NULL, 
	once TEXT, 
	CONSTRAINT pk_run_events PRIMARY KEY (project, run_id, seq), 
	CONSTRAINT fk_run_events_runs FOREIGN KEY(project, run_id) REFERENCES runs (project, run_id), 
	CONSTRAINT uq_run_events_project_run_id_once UNIQUE (project, run_id, once)
);
INSERT INTO "run_events" VALUES('default','r-1',1,'2026-03-01 12:00:00.123456','asked',NULL,'asked by ana','asked');
INSERT INTO "run_events" VALUES('default','r-1',2,'2026-03-01 12:01:00.123456','edited',NULL,'edited by li, plan version 2','decided:q-1');
CREATE TABLE runs (
	project TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	agent TEXT NOT NULL, 
	agent_version TEXT NOT NULL, 
	task TEXT NOT NULL, 
	mode TEXT NOT NULL, 
	provider TEXT NOT NULL, 
	model TEXT NOT NULL, 
	status TEXT NOT NULL, 
	requested_by TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	limits JSON NOT NULL, 
	tools JSON NOT NULL, 
	trace_id TEXT NOT NULL, 
	root_span_id TEXT NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	stop_reason TEXT, 
	error TEXT, 
	plan_version INTEGER, 
	answer TEXT, 
	sources JSON NOT NULL, 
	degraded BOOLEAN NOT NULL, 
	cancel_requested BOOLEAN NOT NULL, 
	cancelled_by TEXT, 
	lease_owner TEXT, 
	lease_until DATETIME, 
	fence INTEGER NOT NULL, 
	CONSTRAINT pk_runs PRIMARY KEY (project, run_id)
);
INSERT INTO "runs" VALUES('default','r-1','th-r-1','analyst','1','Which three projects cost most? 🙂','plan_execute','offline','offline-1','waiting_human','ana','2026-03-01 12:00:00.123456','{"max_steps": 5, "tries_per_step": 3, "max_replans": 2, "max_tool_calls": 40, "max_llm_calls": 60}','{"lookup": 1}','00000000000000000000000000000001','0000000000000001',NULL,NULL,NULL,NULL,2,NULL,'[{"n": 1, "step_id": "s2", "tool": "lookup", "text": "B-7: 12"}]',0,0,NULL,NULL,NULL,0);
CREATE TABLE steps (
	project TEXT NOT NULL, 
	run_id TEXT NOT NULL, 
	plan_version INTEGER NOT NULL, 
	step_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	result JSON, 
	error TEXT, 
	CONSTRAINT pk_steps PRIMARY KEY (project, run_id, plan_version, step_id), 
	CONSTRAINT fk_steps_plans FOREIGN KEY(project, run_id, plan_version) REFERENCES plans (project, run_id, version)
);
INSERT INTO "steps" VALUES('default','r-1',1,'s2',0,'pending',0,NULL,NULL,NULL,NULL);
INSERT INTO "steps" VALUES('default','r-1',1,'s1',1,'pending',0,NULL,NULL,NULL,NULL);
INSERT INTO "steps" VALUES('default','r-1',2,'s2',0,'pending',0,NULL,NULL,NULL,NULL);
INSERT INTO "steps" VALUES('default','r-1',2,'s1',1,'pending',0,NULL,NULL,NULL,NULL);
CREATE TABLE workers (
	worker_id TEXT NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_workers PRIMARY KEY (worker_id)
);
INSERT INTO "workers" VALUES('h:1:1','2026-03-01 12:01:03.123456');
CREATE INDEX ix_runs_moving ON runs (created_at) WHERE (status IN ('queued', 'planning', 'executing') OR (status = 'waiting_human' AND cancel_requested));
CREATE INDEX ix_runs_project_created_at_run_id ON runs (project, created_at, run_id);
CREATE INDEX ix_runs_project_finished_at_run_id ON runs (project, finished_at, run_id);
CREATE INDEX ix_runs_project_status_created_at_run_id ON runs (project, status, created_at, run_id);
CREATE INDEX ix_runs_project_thread_id_created_at ON runs (project, thread_id, created_at);
CREATE INDEX ix_approval_requests_project_requested_at_request_id ON approval_requests (project, requested_at, request_id);
CREATE INDEX ix_approval_requests_project_run_id_requested_at ON approval_requests (project, run_id, requested_at);
CREATE INDEX ix_approval_requests_project_status_requested_at_request_id ON approval_requests (project, status, requested_at, request_id);
CREATE INDEX ix_approval_requests_unapplied ON approval_requests (project, run_id) WHERE decision IS NOT NULL AND applied_at IS NULL;
COMMIT;
