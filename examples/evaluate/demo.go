// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/examples/kit/connect"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/leader"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

var (
	// errInterrupted says that the user has ended the demo before its checks.
	errInterrupted = errors.New("interrupted")
	errChecks      = errors.New("not every check holds, see above")
)

// What the demo says beside the steps of its story.
const (
	starts   = "building and starting etcd, Kubernetes, KWOK and %d simulated nodes"
	installs = "installing the CRD of "
	controls = "          the controller runs, in this process"
	cleansUp = "cleaning up: nothing is left behind"
)

// heading says what is shown.
func (k *kind) heading() string {
	return "podwright: " + cmp.Or(k.Shows, "the pods of a "+k.name+" are updated in place") + ", on a real API server"
}

// demo is one run of the demo.
type demo struct {
	options
	*kind
	*screen
	observer

	own            bool         // the cluster is the demo's own
	config         *rest.Config // of the cluster, and a namespace in it
	namespace, dir string       // dir holds log files
	close          func() error // leaves nothing behind, also if opening has failed
	controllers.Clients
	untyped   dynamic.Interface
	placement workloads.Placement // of CloneSets; nil: none
}

// run shows everything, and leaves nothing behind. After Ctrl-C it returns
// errInterrupted, or nil if all had been shown.
func (d *demo) run(ctx context.Context) (err error) {
	d.print(line{d.heading(), title}, line{})
	d.close = func() error { return nil }
	working, end := context.WithCancel(ctx)
	defer end()
	running, working := errgroup.WithContext(working)
	if d.own = d.Kubeconfig == ""; d.own {
		err = d.startCluster(ctx)
	} else {
		err = d.openCluster(ctx)
	}
	if err == nil {
		err = d.work(working, running)
	}
	err = ofSignal(ctx, err)
	failure := d.step(cleansUp, func() error {
		end()
		if ended := running.Wait(); ended != nil { // which has ended the work
			err = ended
		}
		if err != nil && err != errInterrupted {
			err = withLogs(d.dir, err)
		}
		return d.close()
	})
	return errors.Join(err, failure)
}

// ofSignal returns errInterrupted in place of an error that follows from a signal.
func ofSignal(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, errChecks) {
		return errInterrupted
	}
	return err
}

// startCluster starts a cluster on this machine. Whatever ends this program ends the cluster.
func (d *demo) startCluster(ctx context.Context) error {
	o := cluster.Options{Nodes: cmp.Or(d.Nodes, 3)}
	what := fmt.Sprintf(starts, o.Nodes)
	if d.Node == nodeReal {
		o, what = cluster.Options{RealNodes: 2}, "building and starting etcd, Kubernetes and 2 nodes that run containers"
	}
	return d.step(what, func() (err error) {
		if o.RealNodes > 0 {
			_, err = cluster.BuildRealNodes(ctx, os.Stdout)
		}
		if err == nil {
			o.ControlPlane, err = cluster.Build(ctx, os.Stdout)
		}
		if err != nil {
			return err
		}
		c, err := cluster.Start(ctx, o)
		if err != nil {
			return err
		}
		d.Kubeconfig, d.namespace, d.dir, d.close = c.Kubeconfig(), "default", c.Dir(), c.Stop
		err = d.connect(c.Config())
		for name, image := range images { // the bad one does not exist
			if c.Images() != nil && err == nil {
				_, err = c.Images().Add(name, image)
			}
		}
		return err
	})
}

// openCluster takes a cluster that is there already, and makes a namespace in it that is removed in the end.
func (d *demo) openCluster(ctx context.Context) error {
	config, _, err := connect.Config(nil, d.Kubeconfig)
	if err != nil {
		return fmt.Errorf("%w; name a file with --kubeconfig, or start a cluster on this machine with --kubeconfig=\"\"", err)
	}
	config.QPS = -1
	if err := d.connect(config); err != nil {
		return err
	}
	d.close = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := cluster.RemoveNamespace(ctx, d.Kubernetes, d.namespace)
		if err != nil {
			err = fmt.Errorf("%w; remove it with: kubectl delete namespace %s", err, d.namespace)
		}
		return errors.Join(err, os.RemoveAll(d.dir))
	}
	return d.step("making a namespace in the cluster at "+config.Host, func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if d.dir, err = os.MkdirTemp("", "podwright-demo-"); err == nil {
			d.namespace, err = cluster.NewNamespace(ctx, d.Kubernetes, "podwright-demo-")
		}
		if err != nil {
			return fmt.Errorf("cluster at %s: %w", config.Host, err)
		}
		return nil
	})
}

// connect makes the clients of a cluster.
func (d *demo) connect(config *rest.Config) (err error) {
	d.config = config
	if d.Clients, err = controllers.NewClients(config, "podwright-demo"); err == nil {
		d.untyped, err = dynamic.NewForConfig(config)
	}
	return err
}

// withLogs keeps the logs of a demo that has failed where they outlive the cluster, and says where.
func withLogs(of string, err error) error {
	files, _ := filepath.Glob(filepath.Join(of, "*.log"))
	if of == "" || len(files) == 0 {
		return err
	}
	dir, failure := os.MkdirTemp("", "podwright-demo-logs-")
	for _, file := range files {
		failure = errors.Join(failure, os.Rename(file, filepath.Join(dir, filepath.Base(file))))
	}
	return errors.Join(fmt.Errorf("%w\nThe logs of the controller and of the cluster are kept in %s", err, dir), failure)
}

// work does what the user came for. What it starts belongs to running, and ends with the context, which is that of running.
func (d *demo) work(ctx context.Context, running *errgroup.Group) (err error) {
	for _, begin := range []func(context.Context, *errgroup.Group) error{d.installCRDs, d.runControllers, d.observe} {
		if err := begin(ctx, running); err != nil {
			return err
		}
	}
	if err = d.play(ctx); err != nil && !errors.Is(err, errChecks) || d.Exit {
		return err
	}
	d.print(line{text: d.suggestions()})
	_, _ = d.watch(ctx, "now  "+d.name+" "+setName, func(*state) (bool, error) { return false, nil })
	return err
}

// installCRDs makes the API server serve what the demo needs. A CRD that is there is left alone.
func (d *demo) installCRDs(ctx context.Context, _ *errgroup.Group) error {
	for _, resource := range d.resources {
		served, err := manager.Served(ctx, d.Kubernetes.Discovery(), resource)
		if err == nil && !served && !d.own && !d.InstallCRDs {
			err = fmt.Errorf("the cluster does not serve version %s of %s; the flag --install-crds installs the CRD", resource.Version, resource.GroupResource())
		}
		if err == nil && !served {
			err = d.step(installs+resource.GroupResource().String(), func() error {
				return crds.Install(ctx, d.untyped, crds.Of(slices.Concat(workloads.CRDs(), sidecar.CRDs(), availability.CRDs(), distribution.CRDs()), resource))
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runControllers runs the controllers in this process, as any program may that embeds them, until the context is done. It
// does not if a manager would manage the same workload. When one ends before that, running fails.
func (d *demo) runControllers(ctx context.Context, running *errgroup.Group) error {
	manager, err := leader.Holder(ctx, d.Kubernetes, "kruise-system", "kruise-manager")
	if err != nil {
		return err
	}
	if manager != "" {
		d.print(line{text: fmt.Sprintf("          a manager runs in this cluster already (%s): the demo starts none", manager)})
		return nil
	}
	log, err := os.OpenFile(filepath.Join(d.dir, "controller.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log file of the controller: %w", err)
	}
	klog.LogToStderr(false)
	klog.SetOutput(log)
	for _, resource := range d.resources {
		d.control(resource, func(c runner, err error) {
			running.Go(func() error {
				defer klog.Flush()
				if err == nil {
					err = c.Run(ctx)
				}
				if ctx.Err() == nil {
					return fmt.Errorf("the controller has ended by itself: %v", err)
				}
				return nil
			})
		})
	}
	d.print(line{text: controls})
	return nil
}
