// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/toy"
	"github.com/podwright/podwright/internal/testing/toy/client"
	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// The entry of the toy kind begins here: internal/controller/toy_test.go counts its lines.

func toys(f *pflag.FlagSet) kind {
	workers := f.Int("toy-workers", 3, "Toys reconciled at the same time")
	return kind{
		name: "toy-controller", resource: v1alpha1.SchemeGroupVersion.WithResource("toys"),
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			clients, err := client.NewForConfig(p.Config) // a kind of an area finds its client among those of the parts
			return toy.Describe(toy.Options{
				Kubernetes: p.Kubernetes, Toy: clients, ControllerOptions: p.options(*workers), Toys: p.caches.toys(clients), Pods: p.caches.pods(),
			}), err
		},
	}
}

func (c *caches) toys(clients client.Interface) cache.SharedIndexInformer {
	return shared(c, &v1alpha1.Toy{}, clients, client.NewToyInformer)
}

// The entry ends here.

// A kind is one entry: flags, rights, caches and a controller that works come from that.
func TestToyIsAnEntry(t *testing.T) {
	config, flags := mustParse(t), pflag.NewFlagSet("", pflag.ContinueOnError)
	config.kinds = append(slices.Clone(config.kinds), toys(flags))
	if flags.Lookup("toy-workers") == nil {
		t.Error("there is no flag --toy-workers")
	}
	parts, err := Permissions(config)
	if err != nil || !slices.ContainsFunc(parts, func(p permissions.Part) bool {
		return p.Allows("patch", v1alpha1.GroupName, "toys/status", "shop", "blocks")
	}) {
		t.Errorf("error %v, and the manager may not write what toys say", err)
	}
	synctest.Test(t, func(t *testing.T) {
		server := fakecluster.New(nil, append(served(t), fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("Toy"), "toys"))...)
		rest := server.Config("")
		seen := &watches{next: rest.Transport, installed: []string{"toys"}, all: map[string]int{}}
		rest.Transport = seen
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		m := &Manager{config: config, gates: openGates(t)}
		go func() { ended <- m.runControllers(ctx, rest) }()
		clients, err := client.NewForConfig(rest)
		if err != nil {
			t.Fatal(err)
		}
		toy := &v1alpha1.Toy{ObjectMeta: metav1.ObjectMeta{Name: "blocks"}}
		if _, err := clients.Toys("shop").Create(ctx, toy, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // of virtual time
		synctest.Wait()
		if toy, err = clients.Toys("shop").Get(ctx, "blocks", metav1.GetOptions{}); err != nil || toy.Status.ObservedGeneration != 1 {
			t.Errorf("error %v, status %+v", err, toy.Status)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
