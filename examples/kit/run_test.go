// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit"
	"github.com/podwright/podwright/examples/kit/webhooks"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/fakecluster"
)

// One of two replicas leads, and the other does when that ends. Both answer the API server, which knows their authority.
func TestReplicas(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cluster := newCluster()
	first := start(ctx, t, cluster, "first")
	first.awaits(ctx, t, first.leads, "the first replica, which leads")
	second := start(ctx, t, cluster, "second")
	second.awaits(ctx, t, second.ready, "the webhooks of the second replica")

	kube := kubernetes.NewForConfigOrDie(cluster.Config("user"))
	registered, err := fakecluster.Eventually(ctx, "the registration", func(ctx context.Context) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
		return kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, manager.ValidatingName, metav1.GetOptions{})
	}, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) bool { return len(c.Webhooks) == 1 })
	if err != nil {
		t.Fatal(err)
	}
	first.answers(t, registered.Webhooks[0].ClientConfig)
	second.answers(t, registered.Webhooks[0].ClientConfig)
	select {
	case <-second.leads:
		t.Fatal("two replicas lead")
	default:
	}
	first.ends(t)
	second.awaits(ctx, t, second.leads, "the second replica, which leads when the first has ended")
	second.ends(t)
}

// A replica whose controllers fail ends with their error, and one without what it needs before it asks anything.
func TestErrors(t *testing.T) {
	failed := errors.New("failed")
	failing := func(rest.Config) podwright.Kind {
		return podwright.Kind{Name: "toy-controller", New: func(context.Context) (podwright.Runner, error) { return nil, failed }}
	}
	for _, c := range []struct {
		name string
		o    kit.Options
		want string
	}{
		{"no kinds", kit.Options{}, "Options.Kinds is nil"},
		{"a Lease without a name", kit.Options{Kinds: one(failing), Manager: ctrlmanager.Options{LeaderElection: true}}, "needs LeaderElectionID and LeaderElectionNamespace"},
		{"a controller", kit.Options{Kinds: one(failing)}, "toy-controller: failed"},
		{"Kinds", kit.Options{Kinds: func(_, _ *rest.Config) (kit.Kinds, error) { return nil, failed }}, "failed"},
		{"Prepare", kit.Options{Kinds: one(failing), Prepare: func(context.Context) error { return errors.New("not prepared") }}, "not prepared"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Manager.Metrics = server.Options{BindAddress: "0"}
			if err := kit.Run(t.Context(), newCluster().Config("manager"), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

func one(kind func(rest.Config) podwright.Kind) func(_, _ *rest.Config) (kit.Kinds, error) {
	return func(_, leading *rest.Config) (kit.Kinds, error) {
		return manager.New(manager.Options{}, kind(*leading))
	}
}

// replica is a process of a toy kind.
type replica struct {
	hooks        *webhooks.Server
	leads, ready chan struct{}
	stop         context.CancelFunc
	ended        chan error
}

func start(ctx context.Context, t *testing.T, cluster *fakecluster.Cluster, name string) *replica {
	t.Helper()
	hooks, err := webhooks.Listen(webhooks.Options{Enabled: true, Register: true, BindAddress: "127.0.0.1", Service: "shop", Secret: "shop-certs"}, "shop-system")
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{hooks: hooks, leads: make(chan struct{}), ready: make(chan struct{}), ended: make(chan error, 1)}
	ctx, r.stop = context.WithCancel(ctx)
	options := kit.Options{
		Manager: ctrlmanager.Options{
			Metrics: server.Options{BindAddress: "0"}, LeaderElection: true, LeaderElectionID: "shop", LeaderElectionNamespace: "shop-system",
		},
		Webhooks: hooks,
		Kinds: func(every, _ *rest.Config) (kit.Kinds, error) {
			kube, err := kubernetes.NewForConfig(every)
			if err != nil {
				return nil, err
			}
			return manager.New(manager.Options{Kubernetes: kube}, r.toy(), cloneset.Describe(cloneset.Options{}, &cloneset.Webhook{}).WebhookOnly())
		},
		Ready: func() { close(r.ready) },
	}
	go func() { r.ended <- kit.Run(ctx, cluster.Config(name), options) }()
	return r
}

// toy returns a kind whose controller tells that it runs.
func (r *replica) toy() podwright.Kind {
	return podwright.Kind{Name: "toy-controller", New: func(context.Context) (podwright.Runner, error) { return leads(r.leads), nil }}
}

// answers calls the replica as the API server would.
func (r *replica) answers(t *testing.T, by admissionregistrationv1.WebhookClientConfig) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(by.CABundle)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: by.Service.Name + "." + by.Service.Namespace + ".svc",
	}}}
	review := `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "7", "operation": "CREATE",
		"resource": {"group": "apps.kruise.io", "version": "v1alpha1", "resource": "clonesets"}, "object": {"metadata": {"name": "web"}}}}`
	response, err := client.Post("https://"+r.hooks.Address()+*by.Service.Path, "application/json", strings.NewReader(review))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), `"uid":"7"`) {
		t.Errorf("a webhook answers %s %q, error %v: want an answer to the request", response.Status, body, err)
	}
}

func (r *replica) awaits(ctx context.Context, t *testing.T, happens <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-happens:
	case err := <-r.ended:
		t.Fatalf("missing: %s; the replica ended: %v", what, err)
	case <-ctx.Done():
		t.Fatalf("missing: %s", what)
	}
}

func (r *replica) ends(t *testing.T) {
	t.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

// leads is a controller that tells when it runs.
type leads chan struct{}

func (l leads) Run(ctx context.Context) error {
	close(l)
	<-ctx.Done()
	return nil
}

func (leads) HasSynced() bool { return true }

// newCluster returns a cluster that serves what replicas write.
func newCluster() *fakecluster.Cluster {
	global := func(group, kind string) fakecluster.Resource {
		gvk := schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
		return fakecluster.Resource{GroupVersionKind: gvk, Plural: strings.ToLower(kind) + "s", ClusterScoped: true}
	}
	return fakecluster.New(global("apiextensions.k8s.io", "CustomResourceDefinition"),
		global(admissionregistrationv1.GroupName, "MutatingWebhookConfiguration"), global(admissionregistrationv1.GroupName, "ValidatingWebhookConfiguration"))
}
