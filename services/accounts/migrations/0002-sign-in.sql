-- Sessions, and what opens them: sign-in links, and identities at OpenID providers.

-- An owner's link opens the owner's brand alone, and so does the session that it opens: the person may be a member of other brands, now
-- or later. Without a brand a link is the operator's, for every brand of the person. Links and sessions go with the membership of
-- either person.
create table accounts.sessions (
  -- SHA-256 of the token. The token itself is not stored.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  email text collate "C" not null check (email = lower(email)),
  -- Of the identity that signed in; null after a sign-in link.
  issuer text,
  -- The one brand that the session opens, and the owner who made its link; null: every brand of the person.
  brand_id text collate "C",
  made_by text collate "C",
  created_at timestamptz(3) not null default now(),
  -- Written at most once a minute.
  last_used_at timestamptz(3) not null default now(),
  constraint sessions_of_brand check ((brand_id is null) = (made_by is null)),
  constraint sessions_member foreign key (brand_id, email) references accounts.members (brand_id, email) on delete cascade,
  constraint sessions_owner foreign key (brand_id, made_by) references accounts.members (brand_id, email) on delete cascade
);

create table accounts.sign_in_links (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  email text collate "C" not null check (email = lower(email)),
  -- As those of the session that it opens.
  brand_id text collate "C",
  made_by text collate "C",
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  constraint sign_in_links_of_brand check ((brand_id is null) = (made_by is null)),
  constraint sign_in_links_member foreign key (brand_id, email) references accounts.members (brand_id, email) on delete cascade,
  constraint sign_in_links_owner foreign key (brand_id, made_by) references accounts.members (brand_id, email) on delete cascade
);

-- An account at an OpenID provider, bound to a person by the first sign-in.
create table accounts.identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  email text collate "C" not null check (email = lower(email)),
  bound_at timestamptz(3) not null default now(),
  primary key (issuer, subject),
  unique (email, issuer)
);

-- Each ID token signs in once: they pass through consoles, and browsers keep them for signing out.
create table accounts.used_id_tokens (
  -- SHA-256 of what the provider has signed: the token without its signature, which has several spellings. The token is not stored.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  -- No process accepts the token from then on, so the row may go.
  expires_at timestamptz(3) not null
);

create index sessions_email on accounts.sessions (email);
create index sessions_created_at on accounts.sessions (created_at);
create index sign_in_links_email on accounts.sign_in_links (email);
create index sign_in_links_expires_at on accounts.sign_in_links (expires_at);
create index used_id_tokens_expires_at on accounts.used_id_tokens (expires_at);
-- For the references, and for what is kept about a person.
create index sessions_made_by on accounts.sessions (made_by) where made_by is not null;
create index sign_in_links_made_by on accounts.sign_in_links (made_by) where made_by is not null;
