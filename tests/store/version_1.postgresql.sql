CREATE TABLE public.approval_requests (
    project text NOT NULL,
    request_id text NOT NULL,
    kind text NOT NULL,
    run_id text NOT NULL,
    thread_id text NOT NULL,
    checkpoint_id text NOT NULL,
    interrupt_id text NOT NULL,
    hash text NOT NULL,
    status text NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    requested_by text NOT NULL,
    payload json NOT NULL,
    expires_at timestamp with time zone,
    decided_at timestamp with time zone,
    decided_by text,
    decided_by_system_user text,
    decision text,
    note text,
    value json,
    applied_at timestamp with time zone
);
CREATE TABLE public.artifacts (
    project text NOT NULL,
    run_id text NOT NULL,
    name text NOT NULL,
    step_id text,
    media_type text NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.attempts (
    project text NOT NULL,
    run_id text NOT NULL,
    plan_version integer NOT NULL,
    step_id text NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    error text
);
CREATE TABLE public.plans (
    project text NOT NULL,
    run_id text NOT NULL,
    version integer NOT NULL,
    hash text NOT NULL,
    parent_hash text,
    goal text NOT NULL,
    rationale text NOT NULL,
    steps json NOT NULL,
    trigger text,
    repairs json NOT NULL,
    source text NOT NULL,
    estimate json,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL
);
CREATE TABLE public.records_alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.run_events (
    project text NOT NULL,
    run_id text NOT NULL,
    seq integer NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    step_id text,
    text text NOT NULL,
    once text
);
CREATE TABLE public.runs (
    project text NOT NULL,
    run_id text NOT NULL,
    thread_id text NOT NULL,
    agent text NOT NULL,
    agent_version text NOT NULL,
    task text NOT NULL,
    mode text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    status text NOT NULL,
    requested_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    limits json NOT NULL,
    tools json NOT NULL,
    trace_id text NOT NULL,
    root_span_id text NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    stop_reason text,
    error text,
    plan_version integer,
    answer text,
    sources json NOT NULL,
    degraded boolean NOT NULL,
    cancel_requested boolean NOT NULL,
    cancelled_by text,
    lease_owner text,
    lease_until timestamp with time zone,
    fence integer NOT NULL
);
CREATE TABLE public.steps (
    project text NOT NULL,
    run_id text NOT NULL,
    plan_version integer NOT NULL,
    step_id text NOT NULL,
    "position" integer NOT NULL,
    status text NOT NULL,
    attempts integer NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    result json,
    error text
);
CREATE TABLE public.workers (
    worker_id text NOT NULL,
    seen_at timestamp with time zone NOT NULL
);
INSERT INTO public.approval_requests VALUES ('default', 'q-1', 'plan', 'r-1', 'th-r-1', 'cp-q-1', 'i-1', '0000000000000000000000000000000000000000000000000000000000000001', 'edited', '2026-03-01 12:00:00.123456+00', 'ana', '{"plan": {"goal": "Know the stock", "rationale": "Look, then say", "version": 1, "hash": "0000000000000000000000000000000000000000000000000000000000000001", "parent_hash": null, "trigger": null, "repairs": ["code_fence"], "source": "model", "estimate": {"calls": 4}, "steps": [{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]}, "task": "\u2026"}', NULL, '2026-03-01 12:01:00.123456+00', 'li', 'root', 'edit', NULL, '{"goal": "Know the stock", "rationale": "Look, then say", "version": 2, "hash": "0000000000000000000000000000000000000000000000000000000000000002", "parent_hash": "0000000000000000000000000000000000000000000000000000000000000001", "trigger": "edit", "repairs": ["code_fence"], "source": "person", "estimate": {"calls": 4}, "steps": [{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]}', NULL);
INSERT INTO public.artifacts VALUES ('default', 'r-1', 'a.txt', 's2', 'text/plain', 3, '0000000000000000000000000000000000000000000000000000000000000000', '2026-03-01 12:01:02.123456+00');
INSERT INTO public.attempts VALUES ('default', 'r-1', 2, 's2', 1, 'running', '2026-03-01 12:01:01.123456+00', NULL, NULL);
INSERT INTO public.plans VALUES ('default', 'r-1', 1, '0000000000000000000000000000000000000000000000000000000000000001', NULL, 'Know the stock', 'Look, then say', '[{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]', NULL, '["code_fence"]', 'model', '{"calls": 4}', '2026-03-01 12:00:01.123456+00', 'model');
INSERT INTO public.plans VALUES ('default', 'r-1', 2, '0000000000000000000000000000000000000000000000000000000000000002', '0000000000000000000000000000000000000000000000000000000000000001', 'Know the stock', 'Look, then say', '[{"id": "s2", "description": "Look up the stock", "tool": "lookup", "args": {"sku": "B-7"}, "dependencies": [], "acceptance_criteria": "A number is named", "effect": "read"}, {"id": "s1", "description": "Say it", "tool": null, "args": {}, "dependencies": ["s2"], "acceptance_criteria": "One sentence", "effect": "read"}]', 'edit', '["code_fence"]', 'person', '{"calls": 4}', '2026-03-01 12:01:00.123456+00', 'li');
INSERT INTO public.records_alembic_version VALUES ('0001');
INSERT INTO public.run_events VALUES ('default', 'r-1', 1, '2026-03-01 12:00:00.123456+00', 'asked', NULL, 'asked by ana', 'asked');
INSERT INTO public.run_events VALUES ('default', 'r-1', 2, '2026-03-01 12:01:00.123456+00', 'edited', NULL, 'edited by li, plan version 2', 'decided:q-1');
INSERT INTO public.runs VALUES ('default', 'r-1', 'th-r-1', 'analyst', '1', 'Which three projects cost most? 🙂', 'plan_execute', 'offline', 'offline-1', 'waiting_human', 'ana', '2026-03-01 12:00:00.123456+00', '{"max_steps": 5, "tries_per_step": 3, "max_replans": 2, "max_tool_calls": 40, "max_llm_calls": 60}', '{"lookup": 1}', '00000000000000000000000000000001', '0000000000000001', NULL, NULL, NULL, NULL, 2, NULL, '[{"n": 1, "step_id": "s2", "tool": "lookup", "text": "B-7: 12"}]', false, false, NULL, NULL, NULL, 0);
INSERT INTO public.steps VALUES ('default', 'r-1', 1, 's2', 0, 'pending', 0, NULL, NULL, NULL, NULL);
INSERT INTO public.steps VALUES ('default', 'r-1', 1, 's1', 1, 'pending', 0, NULL, NULL, NULL, NULL);
INSERT INTO public.steps VALUES ('default', 'r-1', 2, 's2', 0, 'pending', 0, NULL, NULL, NULL, NULL);
INSERT INTO public.steps VALUES ('default', 'r-1', 2, 's1', 1, 'pending', 0, NULL, NULL, NULL, NULL);
INSERT INTO public.workers VALUES ('h:1:1', '2026-03-01 12:01:03.123456+00');
ALTER TABLE ONLY public.approval_requests
    ADD CONSTRAINT pk_approval_requests PRIMARY KEY (project, request_id);
ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT pk_artifacts PRIMARY KEY (project, run_id, name);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT pk_attempts PRIMARY KEY (project, run_id, plan_version, step_id, attempt);
ALTER TABLE ONLY public.plans
    ADD CONSTRAINT pk_plans PRIMARY KEY (project, run_id, version);
ALTER TABLE ONLY public.run_events
    ADD CONSTRAINT pk_run_events PRIMARY KEY (project, run_id, seq);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT pk_runs PRIMARY KEY (project, run_id);
ALTER TABLE ONLY public.steps
    ADD CONSTRAINT pk_steps PRIMARY KEY (project, run_id, plan_version, step_id);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT pk_workers PRIMARY KEY (worker_id);
ALTER TABLE ONLY public.records_alembic_version
    ADD CONSTRAINT records_alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.approval_requests
    ADD CONSTRAINT uq_approval_requests_pause UNIQUE (project, thread_id, checkpoint_id, interrupt_id);
ALTER TABLE ONLY public.run_events
    ADD CONSTRAINT uq_run_events_project_run_id_once UNIQUE (project, run_id, once);
CREATE INDEX ix_approval_requests_project_requested_at_request_id ON public.approval_requests USING btree (project, requested_at, request_id);
CREATE INDEX ix_approval_requests_project_run_id_requested_at ON public.approval_requests USING btree (project, run_id, requested_at);
CREATE INDEX ix_approval_requests_project_status_requested_at_request_id ON public.approval_requests USING btree (project, status, requested_at, request_id);
CREATE INDEX ix_approval_requests_unapplied ON public.approval_requests USING btree (project, run_id) WHERE ((decision IS NOT NULL) AND (applied_at IS NULL));
CREATE INDEX ix_runs_moving ON public.runs USING btree (created_at) WHERE ((status = ANY (ARRAY['queued'::text, 'planning'::text, 'executing'::text])) OR ((status = 'waiting_human'::text) AND cancel_requested));
CREATE INDEX ix_runs_project_created_at_run_id ON public.runs USING btree (project, created_at, run_id);
CREATE INDEX ix_runs_project_finished_at_run_id ON public.runs USING btree (project, finished_at, run_id);
CREATE INDEX ix_runs_project_status_created_at_run_id ON public.runs USING btree (project, status, created_at, run_id);
CREATE INDEX ix_runs_project_thread_id_created_at ON public.runs USING btree (project, thread_id, created_at);
ALTER TABLE ONLY public.approval_requests
    ADD CONSTRAINT fk_approval_requests_runs FOREIGN KEY (project, run_id) REFERENCES public.runs(project, run_id);
ALTER TABLE ONLY public.artifacts
    ADD CONSTRAINT fk_artifacts_runs FOREIGN KEY (project, run_id) REFERENCES public.runs(project, run_id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT fk_attempts_steps FOREIGN KEY (project, run_id, plan_version, step_id) REFERENCES public.steps(project, run_id, plan_version, step_id);
ALTER TABLE ONLY public.plans
    ADD CONSTRAINT fk_plans_runs FOREIGN KEY (project, run_id) REFERENCES public.runs(project, run_id);
ALTER TABLE ONLY public.run_events
    ADD CONSTRAINT fk_run_events_runs FOREIGN KEY (project, run_id) REFERENCES public.runs(project, run_id);
ALTER TABLE ONLY public.steps
    ADD CONSTRAINT fk_steps_plans FOREIGN KEY (project, run_id, plan_version) REFERENCES public.plans(project, run_id, version);
