// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/process/crds"
	"github.com/podwright/podwright/workloads"
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
	screen  *screen

	place    place
	core     kubernetes.Interface
	workload dynamic.ResourceInterface
	observer *observer
}

// run shows everything, and leaves nothing behind. After Ctrl-C it returns
// errInterrupted, or nil where all had been shown.
func (d *demo) run(ctx context.Context) (err error) {
	d.screen.print(line{fmt.Sprintf("podwright: the pods of a %s are updated in place, on a real API server", d.kind.name), title}, line{})
	d.place.close = func() error { return nil }
	if d.options.Kubeconfig == "" {
		err = d.place.startCluster(ctx, d.options.Node, d.screen)
	} else {
		err = d.place.openCluster(ctx, d.options.Kubeconfig, d.screen)
	}
	working, end := context.WithCancel(ctx)
	defer end()
	running, working := errgroup.WithContext(working)
	if err == nil {
		err = d.work(working, running)
	}
	err = ofSignal(ctx, err)
	failure := d.screen.step("cleaning up: nothing is left behind", func() error {
		end()
		if ended := running.Wait(); ended != nil { // which has ended the work
			err = ended
		}
		if err != nil && err != errInterrupted {
			err = d.place.withLogs(err)
		}
		return d.place.close()
	})
	if failure != nil {
		return errors.Join(err, failure)
	}
	return err
}

// ofSignal returns errInterrupted in place of an error that follows from a signal.
func ofSignal(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, errChecks) {
		return errInterrupted
	}
	return err
}

// work does what the user came for. What it starts belongs to running, and ends with the context, which is that of running.
func (d *demo) work(ctx context.Context, running *errgroup.Group) error {
	core, failure1 := kubernetes.NewForConfig(d.place.config)
	untyped, failure2 := dynamic.NewForConfig(d.place.config)
	workloads, failure3 := client.NewForConfig(d.place.config)
	if err := errors.Join(failure1, failure2, failure3); err != nil {
		return err
	}
	d.core, d.workload = core, untyped.Resource(d.kind.resource).Namespace(d.place.namespace)
	if err := d.installCRD(ctx, untyped); err != nil {
		return err
	}
	if d.place.manager != "" {
		d.screen.print(line{text: fmt.Sprintf("          a manager runs in this cluster already (%s): the demo starts none", d.place.manager)})
	} else if err := d.control(ctx, workloads, running); err != nil {
		return err
	}
	var err error
	if d.observer, err = newObserver(ctx, d.kind, core, workloads, d.place.namespace, running); err != nil {
		return err
	}
	if err = d.play(ctx); err != nil && !errors.Is(err, errChecks) || d.options.Exit {
		return err
	}
	d.screen.print(line{text: suggestions(d.kind, &d.place)})
	_, _ = d.watch(ctx, "now  "+d.kind.name+" "+d.place.namespace+"/"+setName, func(*state) bool { return false })
	return err
}

// installCRD makes the API server serve the kind. A CRD that is there stays as it is.
func (d *demo) installCRD(ctx context.Context, client dynamic.Interface) error {
	resource := d.kind.resource
	served, err := crds.Served(ctx, discovery.ToDiscoveryInterfaceWithContext(d.core.Discovery()), resource)
	if err != nil || served {
		return err
	}
	if d.options.Kubeconfig != "" && !d.options.InstallCRDs {
		return fmt.Errorf("the cluster does not serve version %s of %s; the flag --install-crds installs the CRD", resource.Version, resource.GroupResource())
	}
	return d.screen.step("installing the CRD of "+resource.GroupResource().String(), func() error {
		return crds.Install(ctx, client, crds.Of(workloads.CRDs(), resource))
	})
}

// control runs the controller of the kind in this process, as any program may that embeds it, until the context is done.
// When it ends before that, running fails.
func (d *demo) control(ctx context.Context, workloads client.Interface, running *errgroup.Group) error {
	log, err := os.OpenFile(filepath.Join(d.place.dir, "controller.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log file of the controller: %w", err)
	}
	klog.LogToStderr(false)
	klog.SetOutput(log)
	controller, err := d.kind.controller(d.core, workloads, d.place.namespace)
	if err != nil {
		return err
	}
	running.Go(func() error {
		defer klog.Flush()
		if err := controller.Run(ctx); ctx.Err() == nil {
			return fmt.Errorf("the controller has ended, though nobody told it to: %v", err)
		}
		return nil
	})
	d.screen.print(line{text: "          the controller runs, in this process"})
	return nil
}
