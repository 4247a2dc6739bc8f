CREATE TABLE schema_version (
    version INTEGER NOT NULL
);

CREATE TABLE runs (
    id BIGINT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    settings TEXT NOT NULL,
    version TEXT NOT NULL,
    outcome TEXT,
    counts TEXT,
    crawl_run BIGINT,
    PRIMARY KEY (id)
);

CREATE TABLE sites (
    id BIGINT NOT NULL,
    scheme TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    in_scope BOOLEAN NOT NULL,
    addresses TEXT DEFAULT '' NOT NULL,
    addresses_expire DOUBLE PRECISION DEFAULT 0 NOT NULL,
    robots_status TEXT,
    robots_text BYTEA,
    robots_fetched_at DOUBLE PRECISION DEFAULT 0 NOT NULL,
    robots_expires_at DOUBLE PRECISION DEFAULT 0 NOT NULL,
    robots_detail TEXT DEFAULT '' NOT NULL,
    robots_failing_since DOUBLE PRECISION DEFAULT 0 NOT NULL,
    robots_delay DOUBLE PRECISION DEFAULT 0 NOT NULL,
    errand_until DOUBLE PRECISION DEFAULT 0 NOT NULL,
    augmentation BYTEA,
    guards BYTEA,
    not_before DOUBLE PRECISION DEFAULT 0 NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    reason TEXT,
    due_at DOUBLE PRECISION,
    again_at DOUBLE PRECISION,
    visit BIGINT,
    visit_address TEXT DEFAULT '' NOT NULL,
    urls BIGINT DEFAULT 0 NOT NULL,
    urls_from_others BIGINT DEFAULT 0 NOT NULL,
    urls_for_others BIGINT DEFAULT 0 NOT NULL,
    pages BIGINT DEFAULT 0 NOT NULL,
    bytes BIGINT DEFAULT 0 NOT NULL,
    requests BIGINT DEFAULT 0 NOT NULL,
    lastmod_trust INTEGER DEFAULT 0 NOT NULL,
    rested_in BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (host, scheme, port)
);

CREATE INDEX sites_due ON sites (due_at) WHERE visit IS NULL AND due_at IS NOT NULL;

CREATE INDEX sites_visited ON sites (visit) WHERE visit IS NOT NULL;

CREATE INDEX sites_again ON sites (again_at, not_before) WHERE visit IS NULL AND again_at IS NOT NULL;

CREATE TABLE seeds (
    url TEXT NOT NULL,
    site_id BIGINT NOT NULL,
    via TEXT,
    first_seen DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (url)
);

CREATE TABLE urls (
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    path TEXT NOT NULL,
    state SMALLINT NOT NULL,
    reason TEXT,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    seed BOOLEAN DEFAULT false NOT NULL,
    priority INTEGER NOT NULL,
    first_seen DOUBLE PRECISION NOT NULL,
    due_at DOUBLE PRECISION,
    tries INTEGER DEFAULT 0 NOT NULL,
    status INTEGER,
    checked_at DOUBLE PRECISION,
    etag TEXT DEFAULT '' NOT NULL,
    modified TEXT DEFAULT '' NOT NULL,
    document_id BIGINT,
    fetch_id BIGINT,
    checks INTEGER DEFAULT 0 NOT NULL,
    changes INTEGER DEFAULT 0 NOT NULL,
    changed_at DOUBLE PRECISION,
    confirmed_at DOUBLE PRECISION,
    change_weight DOUBLE PRECISION,
    change_span DOUBLE PRECISION,
    change_restless DOUBLE PRECISION,
    lastmod DOUBLE PRECISION,
    lastmod_read DOUBLE PRECISION,
    detail TEXT,
    visited_in BIGINT DEFAULT 0 NOT NULL,
    via_site BIGINT DEFAULT 0 NOT NULL,
    via_key BIGINT,
    PRIMARY KEY (site_id, key)
);

CREATE INDEX urls_rest ON urls (site_id, state, due_at, key) WHERE state != 0 AND due_at IS NOT NULL;

CREATE INDEX urls_known ON urls (site_id, priority, due_at, key) WHERE state = 0;

CREATE TABLE documents (
    id BIGINT NOT NULL,
    df BIGINT NOT NULL,
    sha256 BYTEA NOT NULL,
    length BIGINT NOT NULL,
    media_type TEXT DEFAULT '' NOT NULL,
    charset TEXT DEFAULT '' NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    language TEXT DEFAULT '' NOT NULL,
    similarity BIGINT,
    body BYTEA NOT NULL,
    coding TEXT DEFAULT '' NOT NULL,
    coded_sha256 BYTEA,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX documents_df ON documents (df, sha256);

ALTER TABLE documents ALTER COLUMN "body" SET STORAGE EXTERNAL;

CREATE TABLE fetches (
    id BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    status INTEGER NOT NULL,
    address TEXT NOT NULL,
    headers BYTEA NOT NULL,
    redirect TEXT,
    document_id BIGINT,
    sha256 BYTEA,
    length BIGINT,
    coding TEXT DEFAULT '' NOT NULL,
    coded_sha256 BYTEA,
    head BYTEA,
    head_base BIGINT,
    marks INTEGER DEFAULT 0 NOT NULL,
    protocol TEXT DEFAULT '' NOT NULL,
    started_at DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    request_id BIGINT,
    PRIMARY KEY (id)
);

CREATE INDEX ix_fetches_document_id ON fetches (document_id);

CREATE INDEX fetches_of_url ON fetches (site_id, key, id);

CREATE TABLE head_bases (
    id BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX ix_head_bases_site_id ON head_bases (site_id);

CREATE TABLE own_bodies (
    fetch_id BIGINT NOT NULL,
    body BYTEA NOT NULL,
    length BIGINT NOT NULL,
    coding TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (fetch_id)
);

CREATE TABLE exchanges (
    id BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    status INTEGER NOT NULL,
    address TEXT NOT NULL,
    fetch_id BIGINT,
    head BYTEA NOT NULL,
    head_base BIGINT,
    marks INTEGER DEFAULT 0 NOT NULL,
    protocol TEXT DEFAULT '' NOT NULL,
    started_at DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    request_id BIGINT,
    body BYTEA,
    length BIGINT,
    body_coding TEXT DEFAULT '' NOT NULL,
    coding TEXT DEFAULT '' NOT NULL,
    file TEXT DEFAULT '' NOT NULL,
    coded_sha256 BYTEA,
    PRIMARY KEY (id)
);

CREATE INDEX exchanges_of_url ON exchanges (site_id, key, id);

CREATE INDEX ix_exchanges_fetch_id ON exchanges (fetch_id);

CREATE TABLE requests (
    id BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE volatile (
    fetch_id BIGINT NOT NULL,
    region INTEGER NOT NULL,
    "offset" BIGINT NOT NULL,
    content BYTEA NOT NULL,
    id TEXT DEFAULT '' NOT NULL,
    length BIGINT,
    PRIMARY KEY (fetch_id, region)
);

ALTER TABLE volatile ALTER COLUMN "content" SET STORAGE EXTERNAL;

CREATE TABLE tvis (
    fetch_id BIGINT NOT NULL,
    etag TEXT DEFAULT '' NOT NULL,
    modified TEXT DEFAULT '' NOT NULL,
    refresh BIGINT DEFAULT 0 NOT NULL,
    merges INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (fetch_id)
);

CREATE TABLE learned (
    fetch_id BIGINT NOT NULL,
    skeleton_sha256 BYTEA NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (fetch_id)
);

CREATE TABLE links (
    document_id BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (document_id)
);

ALTER TABLE links ALTER COLUMN "content" SET STORAGE EXTERNAL;

CREATE TABLE summaries (
    document_id BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (document_id)
);

ALTER TABLE summaries ALTER COLUMN "content" SET STORAGE EXTERNAL;

CREATE TABLE pauses (
    subject TEXT NOT NULL,
    not_before DOUBLE PRECISION NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    failures INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (subject)
);

CREATE TABLE overfull (
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    left_out INTEGER NOT NULL,
    left_out_external INTEGER NOT NULL,
    reads INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (site_id, key)
);

CREATE TABLE errands (
    asker BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    path TEXT NOT NULL,
    hops INTEGER NOT NULL,
    asked_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (asker)
);

CREATE INDEX ix_errands_site_id ON errands (site_id);

