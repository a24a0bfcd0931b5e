// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/manager/app"
	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

var (
	// errInterrupted says that the user has ended the demo before its checks.
	errInterrupted  = errors.New("interrupted")
	errChecks       = errors.New("not every check holds, see above")
	errManagerEnded = errors.New("the manager has ended")
)

// demo is one run of the demo.
type demo struct {
	options options
	kind    *kind
	screen  *screen

	place    *place
	core     kubernetes.Interface
	workload dynamic.ResourceInterface
	observer *observer
}

// run shows everything, and leaves nothing behind. After Ctrl-C it returns
// errInterrupted, or nil where all had been shown.
func (d *demo) run(ctx context.Context) (err error) {
	d.screen.print(line{text: fmt.Sprintf("podwright: the pods of a %s are updated in place, on a real API server", d.kind.name), color: title}, line{})
	if d.options.Kubeconfig == "" {
		d.place, err = startCluster(ctx, d.options.Node, d.screen)
	} else {
		d.place, err = openCluster(ctx, d.options.Kubeconfig, d.screen)
	}
	if err != nil {
		return ofSignal(ctx, err)
	}
	var running sync.WaitGroup
	working, fail := context.WithCancelCause(ctx)
	err = ofSignal(ctx, d.work(working, &running, fail))
	return errors.Join(err, d.screen.step("cleaning up", "nothing is left behind", func() error {
		fail(nil)
		running.Wait()
		if err != nil && !errors.Is(err, errInterrupted) {
			err = d.place.withLogs(err)
		}
		return d.place.close()
	}))
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
	if d.core, err = kubernetes.NewForConfig(d.place.config); err != nil {
		return err
	}
	untyped, err := dynamic.NewForConfig(d.place.config)
	if err != nil {
		return err
	}
	workloads, err := client.NewForConfig(d.place.config)
	if err != nil {
		return err
	}
	if err := d.installCRDs(ctx, untyped); err != nil {
		return err
	}
	if err := d.place.makeNamespace(ctx, d.core, d.screen); err != nil {
		return err
	}
	d.workload = untyped.Resource(d.kind.resource).Namespace(d.place.namespace)
	if d.place.manager != "" {
		d.screen.print(line{text: fmt.Sprintf("          a manager runs in this cluster already (%s): the demo starts none", d.place.manager)})
	} else if err := d.screen.step("starting the manager", "the manager runs, in this process", func() error {
		return startManager(ctx, d.place, running, fail)
	}); err != nil {
		return err
	}
	if d.observer, err = newObserver(ctx, d.kind, d.core, workloads, d.place, running); err != nil {
		return err
	}
	if err = d.play(ctx); err != nil && !errors.Is(err, errChecks) {
		return err
	}
	if !d.options.Exit {
		d.screen.print(suggestions(d.kind, d.place)...)
		err = errors.Join(err, d.stay(ctx))
	}
	return err
}

// installCRDs makes the API server serve the kind. In a cluster that is not the demo's own, a CRD that is there stays as it is.
func (d *demo) installCRDs(ctx context.Context, client dynamic.Interface) error {
	resource := d.kind.resource
	if !d.place.own {
		served, err := crds.Served(ctx, discovery.ToDiscoveryInterfaceWithContext(d.core.Discovery()), resource)
		if err != nil || served {
			return err
		}
		if !d.options.InstallCRDs {
			return fmt.Errorf("the cluster does not serve version %s of %s: install the CRD with the flag --install-crds, "+
				"or with: kubectl apply --server-side -f workloads/crds/%s_%s.yaml",
				resource.Version, resource.GroupResource(), resource.Group, resource.Resource)
		}
	}
	return d.screen.step("installing the CRD", "the CRD is installed: "+resource.GroupResource().String(), func() error {
		return crds.Install(ctx, client, crds.Of(workloads.CRDs(), resource))
	})
}

// startManager runs the manager in this process until the context is done, and
// returns when it is ready. When it ends before that, fail is told why.
func startManager(ctx context.Context, p *place, running *sync.WaitGroup, fail func(error)) error {
	log, err := os.OpenFile(filepath.Join(p.dir, "manager.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log file of the manager: %w", err)
	}
	klog.LogToStderr(false)
	klog.SetOutput(log)
	config, err := managerConfig(p)
	if err != nil {
		return err
	}
	manager, err := app.New(config)
	if err != nil {
		return err
	}
	running.Go(func() {
		defer klog.Flush()
		err := manager.Run(ctx)
		if ctx.Err() == nil {
			fail(fmt.Errorf("%w: %w", errManagerEnded, cmp.Or(err, errors.New("it was not told to"))))
		}
	})
	var last error
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		var response *http.Response
		if response, last = http.Get("http://" + manager.Addresses.HealthProbe + "/readyz"); last != nil {
			return false, nil
		}
		last = errors.New(response.Status)
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	if err != nil {
		return fmt.Errorf("waiting for the manager to be ready: %w; its last answer: %w", cmp.Or(context.Cause(ctx), err), last)
	}
	return nil
}

// managerConfig is that of a manager outside of the cluster, the only one there.
func managerConfig(p *place) (app.Config, error) {
	config, err := app.NewConfig(func(string) string { return "" })
	config.REST = p.config
	config.LeaderElection.Enabled = false
	config.MetricsAddr, config.HealthProbeAddr = "0", "127.0.0.1:0"
	if p.own {
		config.Webhook.Host, config.Webhook.BindAddress, config.Webhook.Port = "127.0.0.1", "127.0.0.1", 0
		config.Webhook.CertDir = filepath.Join(p.dir, "webhook-certs")
	} else {
		config.Namespace = p.namespace
		config.Webhook.Enabled = false // it would concern all namespaces
	}
	return config, err
}

// stay keeps everything up until the context is done, and shows what happens. It returns an error when the manager ends before.
func (d *demo) stay(ctx context.Context) error {
	var last []line
	for {
		if s := d.observer.state(); s != nil {
			if table := render(s); !slices.Equal(table, last) {
				last = table
				d.screen.draw(append([]line{{text: fmt.Sprintf("now  %s %s/%s", d.kind.name, d.place.namespace, setName), color: title}}, table...), false)
			}
		}
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); errors.Is(cause, errManagerEnded) {
				return cause
			}
			return nil
		case <-d.observer.changed:
		}
	}
}
