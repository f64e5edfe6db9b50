/*
 * Memory for tree-sitter.
 *
 * A parse makes and drops thousands of small things, and a tree is freed piece by piece; with
 * malloc() that is a good part of the whole.  Between treemem_begin() and treemem_end() small
 * pieces come from blocks that are given out front to back, with a list of dropped ones for each
 * size, so that who drops as much as he takes needs no more.  What is made at other times, and
 * what is large, comes from malloc() and may live on.
 *
 * tree-sitter asks for memory through functions that a process has once; so this is one for the
 * process, too, and for one thread.  With sanitizers it is not there: they watch malloc() alone.
 */
#pragma once

/* To be called before tree-sitter first asks for memory.  May be called again. */
void treemem_install(void);

/* What is made from here on ... */
void treemem_begin(void);

/* ... is gone: none of it is in use any more.  May be called again. */
void treemem_end(void);
