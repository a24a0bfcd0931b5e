// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
)

// Setup is what New and NewReconciler of a kind's package make a controller of. What is not
// marked as optional is required.
type Setup[S, P any] struct {
	// Package is the name of the kind's package, and Objects names what it reconciles, for errors.
	Package, Objects string
	// Options are those of the kind's options. What is not set in them is set to its default.
	Options *podwright.ControllerOptions
	// Recorder is the option with the recorder of the kind's events, and Component is whose events they
	// are. If it is not set, it is set to what Options.Recorders returns. Optional.
	Recorder  *record.EventRecorder
	Component string
	// Workers is the default of Options.Workers. Default 3.
	Workers int
	// Check checks the other options.
	Check func(*Checks)
	// Reads returns what the kind reads, with the informers that the options share. It is called
	// once, if the options are valid.
	Reads func() []Read
	// Kind describes the kind. It is called last. What it reads stands in Options.Reader then, with New too.
	Kind func() Definition[S, P]
}

// New returns a controller that is not yet running.
func New[S, P any](s Setup[S, P]) (podwright.Controller[S, P], error) {
	if err := s.checks(false).Err(); err != nil {
		return nil, err
	}
	reads := s.Reads()
	if err := share(s.Package, reads, s.Options.Informers); err != nil {
		return nil, err
	}
	sources, err := Open(s.Package, reads)
	if err != nil {
		return nil, err
	}
	s.Options.Reader = sources.Caches()
	r := s.reconciler(sources.reads)
	loops, err := r.loops(sources)
	if err != nil {
		return nil, err
	}
	return &controller[S, P]{reconciler: r, caches: sources.Filling(r.Name, r.CacheSyncTimeout), loops: loops}, nil
}

// NewReconciler returns a Reconciler on the caches of another framework, which Options.Reader reads.
func NewReconciler[S, P any](s Setup[S, P]) (podwright.Reconciler[S, P], error) {
	checks := s.checks(true)
	checks.reader(s.Options.Reader != nil)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	reads := s.Reads()
	for _, read := range reads {
		if err := s.Options.Reader.Open(read.Resource, read.Object, read.Indexes...); err != nil {
			return nil, fmt.Errorf("%s: open the cache of %s: %w", s.Package, read.Resource, err)
		}
	}
	return s.reconciler(reads), nil
}

// NewClosing is NewReconciler of a kind with Definition.Close.
func NewClosing[S, P any](s Setup[S, P]) (interface {
	podwright.Reconciler[S, P]
	Close()
}, error) {
	r, err := NewReconciler(s)
	if err != nil {
		return nil, err
	}
	return r.(*reconciler[S, P]), nil
}

func (s *Setup[S, P]) checks(ofReconciler bool) *Checks {
	checks := &Checks{OfReconciler: ofReconciler, pkg: s.Package}
	workers := cmp.Or(s.Workers, defaultWorkers)
	checks.That(s.Options.Workers >= 0, fmt.Sprintf("Options.Workers is negative: it is the number of %s reconciled at the same time, 0 means %d", s.Objects, workers))
	checks.That(s.Options.CacheSyncTimeout >= 0, "Options.CacheSyncTimeout is negative: it is how long Run waits for caches, 0 means 2 minutes")
	s.Check(checks)
	setDefaults(s.Options, workers)
	if s.Recorder != nil && *s.Recorder == nil && s.Options.Recorders != nil {
		*s.Recorder = s.Options.Recorders(s.Component)
	}
	return checks
}

func (s *Setup[S, P]) reconciler(reads []Read) *reconciler[S, P] {
	kind := s.Kind()
	kind.ControllerOptions, kind.pkg, kind.reads, kind.synced = *s.Options, s.Package, reads, s.Options.Reader.SyncedResourceVersion
	return newReconciler(kind)
}

// controller is podwright.Controller.
type controller[S, P any] struct {
	*reconciler[S, P]
	caches *Filling
	loops  []*workLoop // one at least
	once   once
}

// Run runs the loops.
func (c *controller[S, P]) Run(ctx context.Context) error {
	if err := c.once.begin(c.Name); err != nil {
		return err
	}
	defer c.Close()
	if c.Definition.Run != nil {
		return c.Definition.Run(ctx, c.runLoops)
	}
	return c.runLoops(ctx)
}

func (c *controller[S, P]) runLoops(ctx context.Context) error {
	return runLoops(ctx, c.caches, c.loops...)
}

// HasSynced tells whether the caches are filled.
func (c *controller[S, P]) HasSynced() bool { return c.caches.HasSynced() }

// KindOf returns the kind of a Reconciler that New or NewReconciler has made.
func KindOf[S, P any](r podwright.Reconciler[S, P]) *Definition[S, P] {
	if c, runs := r.(*controller[S, P]); runs {
		return &c.Definition
	}
	return &r.(*reconciler[S, P]).Definition
}
