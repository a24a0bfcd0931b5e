package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/workloads/client"
)

var (
	// errInterrupted says that the user has ended the demo before its checks.
	errInterrupted = errors.New("interrupted")
	errChecks      = errors.New("not every check holds, see above")
)

// demo is one run of the demo.
type demo struct {
	options options
	kind    *kind
	screen  *display.Screen

	place    *place
	core     kubernetes.Interface
	workload *workload
	observer *observer
}

// run shows everything, and leaves nothing behind. After Ctrl-C it returns
// errInterrupted, or nil where all had been shown.
func (d *demo) run(ctx context.Context) (err error) {
	d.screen.Print(display.Line{Text: fmt.Sprintf("podwright: the pods of a %s are updated in place, on a real API server", d.kind.name), Style: display.Title}, display.Line{})
	if d.options.Kubeconfig == "" {
		d.place, err = startCluster(ctx, d.screen)
	} else {
		d.place, err = openCluster(ctx, d.options.Kubeconfig, d.screen)
	}
	if err != nil {
		return ofSignal(ctx, err)
	}
	var running sync.WaitGroup
	working, fail := context.WithCancelCause(ctx)
	err = ofSignal(ctx, d.work(working, &running, fail))

	end := d.screen.Begin("cleaning up")
	fail(nil)
	running.Wait()
	if err != nil && !errors.Is(err, errInterrupted) {
		err = d.place.withLogs(err)
	}
	if failure := d.place.close(); failure != nil {
		end("")
		return errors.Join(err, failure)
	}
	end("nothing is left behind")
	return err
}

// ofSignal returns errInterrupted in place of an error that follows from a signal.
func ofSignal(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, errChecks) {
		return errInterrupted
	}
	return err
}

// work does what the user came for. What it starts ends with the context; running
// counts it, and fail ends all of it.
func (d *demo) work(ctx context.Context, running *sync.WaitGroup, fail func(error)) (err error) {
	if err := installCRDs(ctx, d.place, d.kind.resource, d.options.InstallCRDs, d.screen); err != nil {
		return err
	}
	if d.core, err = kubernetes.NewForConfig(d.place.config); err != nil {
		return err
	}
	if err := d.place.makeNamespace(ctx, d.core, d.screen); err != nil {
		return err
	}
	if d.workload, err = newWorkload(d.place.config, d.kind, d.place.namespace); err != nil {
		return err
	}
	workloads, err := client.NewForConfig(d.place.config)
	if err != nil {
		return err
	}
	if err := d.manage(ctx, running, fail); err != nil {
		return err
	}
	if d.observer, err = newObserver(ctx, d.kind, d.core, workloads, d.place.namespace, running); err != nil {
		return err
	}
	shown, err := d.play(ctx)
	if err != nil {
		return err
	}
	err = d.report(shown)
	if !d.options.Exit {
		err = errors.Join(err, d.stay(ctx))
	}
	return err
}

// manage sees to it that a manager runs.
func (d *demo) manage(ctx context.Context, running *sync.WaitGroup, fail func(error)) error {
	if d.place.manager != "" {
		d.screen.Printf("          a manager runs in this cluster already (%s): the demo starts none", d.place.manager)
		return nil
	}
	end := d.screen.Begin("starting the manager")
	if err := startManager(ctx, d.place, running, fail); err != nil {
		end("")
		return err
	}
	end("the manager runs, in this process")
	return nil
}

// withLogs keeps the logs of a demo that has failed, and says where.
func (p *place) withLogs(err error) error {
	dir, failure := p.keepLogs()
	switch {
	case errors.Is(failure, errNoLogs):
		return err
	case failure != nil:
		return fmt.Errorf("%w\nThe logs could not be kept: %w", err, failure)
	}
	return fmt.Errorf("%w\nThe logs of the manager and of the cluster are kept in %s", err, dir)
}
