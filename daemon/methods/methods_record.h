/* Methods about the record as a whole: gc, backup, checkpoints. */
#pragma once

struct call;

void method_gc(struct call *call);
void method_backup(struct call *call);
void method_audit_checkpoint(struct call *call);
void method_audit_key(struct call *call);
