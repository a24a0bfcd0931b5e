// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/examples/manager/app"
	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/workloads"
)

// installCRDs makes the API server serve a resource of the library. In a cluster
// that is not the demo's own, a CRD that is there stays as it is.
func installCRDs(ctx context.Context, p *place, resource schema.GroupVersionResource, install bool, screen *display.Screen) error {
	definitions := crds.Of(workloads.CRDs(), resource)
	if !p.own {
		served, err := isServed(ctx, p, resource)
		if err != nil || served {
			return err
		}
		if !install {
			return fmt.Errorf("the cluster does not serve version %s of %s: install the CRD with the flag --install-crds, "+
				"or with: kubectl apply --server-side -f workloads/crds/%s_%s.yaml",
				resource.Version, resource.GroupResource(), resource.Group, resource.Resource)
		}
	}
	client, err := dynamic.NewForConfig(p.config)
	if err != nil {
		return err
	}
	end := screen.Begin("installing the CRDs")
	if err := crds.Install(ctx, client, definitions); err != nil {
		end("")
		return err
	}
	end("the CRDs are installed: " + names(definitions))
	return nil
}

func isServed(ctx context.Context, p *place, resource schema.GroupVersionResource) (bool, error) {
	client, err := discovery.NewDiscoveryClientForConfig(p.config)
	if err != nil {
		return false, err
	}
	return crds.Served(ctx, discovery.ToDiscoveryInterfaceWithContext(client), resource)
}

func names(definitions []*unstructured.Unstructured) string {
	text := ""
	for i, definition := range definitions {
		if i > 0 {
			text += ", "
		}
		text += definition.GetName()
	}
	return text
}

// logFile receives the manager's log.
func (p *place) logFile() string { return filepath.Join(p.dir, "manager.log") }

var errManagerEnded = errors.New("the manager has ended")

// startManager runs the manager in this process until the context is done, and
// returns when it is ready. When it ends before that, fail is told why.
func startManager(ctx context.Context, p *place, running *sync.WaitGroup, fail func(error)) error {
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
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
	select {
	case <-manager.Ready():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the manager to be ready: %w", context.Cause(ctx))
	case <-time.After(30 * time.Second):
		return fmt.Errorf("the manager is not ready after 30 seconds; see %s", p.logFile())
	}
}

// managerConfig is that of a manager outside of the cluster, the only one there.
func managerConfig(p *place) (app.Config, error) {
	config, err := app.NewConfig(func(string) string { return "" })
	if err != nil {
		return config, err
	}
	config.REST = p.config
	config.LeaderElection.Enabled = false
	config.MetricsAddr, config.HealthProbeAddr = "0", "0"
	if p.own {
		config.Webhook.Host, config.Webhook.BindAddress, config.Webhook.Port = "127.0.0.1", "127.0.0.1", 0
		config.Webhook.CertDir = filepath.Join(p.dir, "webhook-certs")
	} else {
		config.Namespace = p.namespace
		config.Webhook.Enabled = false // it would concern all namespaces
	}
	return config, nil
}
