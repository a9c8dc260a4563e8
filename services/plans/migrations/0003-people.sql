-- What is kept about a person is found by the address, for the operator's export and erasure.

create index plans_closed_by on plans.plans (closed_by) where closed_by is not null;
create index plans_edited_by on plans.plans (edited_by) where edited_by is not null;
