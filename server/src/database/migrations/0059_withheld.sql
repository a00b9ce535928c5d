-- Why a host does not offer a GPU or slot that it had, as its driver says (G212). Empty: it offers it, or has no room for it.

alter table gpus add column withheld_reason text not null default '';
