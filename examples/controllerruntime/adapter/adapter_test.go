// SPDX-License-Identifier: Apache-2.0

package adapter_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/controllerruntime/adapter"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/manager"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/fakecluster"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Each kind is added to a manager by one call, and reconciles an object there by the caches of that manager.
func TestEveryKind(t *testing.T) {
	ctx := deadline(t)
	cluster := newCluster()
	m := newManager(t, cluster, ctrl.Options{})
	done := &reconciled{names: map[string]bool{}}
	all := adapter.Options(m)
	all.Metrics = done
	added := kinds(all, connect(t, m))
	_, err := adapter.Add(m, manager.Options{}, slices.Collect(maps.Values(added))...)
	must(t, err)
	running := start(ctx, t, m)
	for object := range added {
		create(ctx, t, m.GetClient(), object)
	}
	_, err = fakecluster.Eventually(ctx, "a reconcile by each kind", func(context.Context) ([]string, error) { return done.lacks(added), nil },
		func(lacks []string) bool { return len(lacks) == 0 })
	must(t, err)
	_, err = fakecluster.Eventually(ctx, "the event of a pod that the CloneSet controller creates", func(ctx context.Context) ([]eventsv1.Event, error) {
		var events eventsv1.EventList
		return events.Items, m.GetAPIReader().List(ctx, &events, client.InNamespace("default"))
	}, func(events []eventsv1.Event) bool {
		return slices.ContainsFunc(events, func(e eventsv1.Event) bool {
			return e.ReportingController == "cloneset-controller" && e.Regarding.Kind == "CloneSet" && e.Reason == "SuccessfulCreate"
		})
	})
	must(t, err)
	if lists := cluster.Requests("manager")["list pods"] + cluster.Requests("manager")["watch pods"]; lists > 2 {
		t.Errorf("pods are listed or watched %d times: the kinds do not share the cache of the manager", lists)
	}
	must(t, running())
}

// Webhooks are served, and their caches filled, in each replica; controllers run in the one that leads.
func TestReplicaThatDoesNotLead(t *testing.T) {
	ctx := deadline(t)
	m := newManager(t, newCluster(), ctrl.Options{LeaderElection: true, LeaderElectionID: "shop", LeaderElectionNamespace: "default"})
	another, long := "another", int32(3600)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &another, LeaseDurationSeconds: &long, RenewTime: &metav1.MicroTime{Time: time.Now()}}}
	must(t, m.GetClient().Create(ctx, lease))
	filled, led := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	kind := podwright.Kind{Name: "toy-controller",
		New: func(context.Context) (podwright.Runner, error) { return runner(led), nil },
		Admission: &podwright.Admission{Run: func(ctx context.Context) error {
			close(filled)
			<-ctx.Done()
			return nil
		}},
	}
	_, err := adapter.Add(m, manager.Options{}, kind)
	must(t, err)
	running := start(ctx, t, m)
	await(ctx, t, filled, "the caches of the webhook")
	select {
	case <-led:
		t.Error("a controller runs in a replica that does not lead")
	default:
	}
	must(t, m.GetClient().Delete(ctx, lease))
	await(ctx, t, led, "the controller, once the replica leads")
	must(t, running())

	m = newManager(t, newCluster(), ctrl.Options{})
	_, err = adapter.Add(m, manager.Options{}, podwright.Kind{Admission: &podwright.Admission{Handlers: map[string]http.Handler{"/validate": handler}}})
	must(t, err)
	answer := httptest.NewRecorder()
	m.GetWebhookServer().WebhookMux().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/validate", http.NoBody))
	if answer.Code != http.StatusTeapot {
		t.Errorf("the webhook server answers %d, want what the handler says", answer.Code)
	}
}

// On caches that are restricted to namespaces nothing runs: they do not tell how far they are.
func TestRefusesSplitCaches(t *testing.T) {
	ctx := deadline(t)
	m := newManager(t, newCluster(), ctrl.Options{Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}}}})
	clients := connect(t, m)
	options := cloneset.Options{ControllerOptions: adapter.Options(m), Kubernetes: clients.kube, Workloads: clients.workloads}
	_, err := adapter.Add(m, manager.Options{}, cloneset.Describe(options, nil))
	must(t, err)
	if err := m.Start(ctx); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("the manager ends with %v, want one that says that these caches are not supported", err)
	}
	options.Reader = adapter.NewReader(m)
	if _, err := cloneset.NewReconciler(options); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("NewReconciler: error %v, want one that says that these caches are not supported", err)
	}
}

// A controller whose type the scheme of the manager lacks has a cache of its own.
func TestTypeThatTheSchemeLacks(t *testing.T) {
	m := newManager(t, newCluster(), ctrl.Options{Scheme: clientgoscheme.Scheme})
	informers := adapter.Options(m).Informers
	if informer, err := informers(&v1alpha1.CloneSet{}); informer != nil || err != nil {
		t.Errorf("informer %v, error %v: want none", informer, err)
	}
	if informer, err := informers(&corev1.Pod{}); informer == nil || err != nil {
		t.Errorf("informer %v, error %v: want that of the manager", informer, err)
	}
}

// runner is a controller that tells when it runs.
type runner chan struct{}

func (r runner) Run(ctx context.Context) error {
	close(r)
	<-ctx.Done()
	return nil
}

func (runner) HasSynced() bool { return true }

func await(ctx context.Context, t *testing.T, happens <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-happens:
	case <-ctx.Done():
		t.Fatalf("missing: %s", what)
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// newCluster returns a cluster with the kinds that controllers of podwright use and a fakecluster does not know by itself.
func newCluster() *fakecluster.Cluster {
	evictions, policies := fakecluster.Resource{GroupVersionKind: evictionKind, Plural: "evictions"}, admissionregistrationv1.SchemeGroupVersion.WithKind
	return fakecluster.New(evictions, fakecluster.Resource{GroupVersionKind: policies("MutatingAdmissionPolicy"), Plural: "mutatingadmissionpolicies", ClusterScoped: true},
		fakecluster.Resource{GroupVersionKind: policies("MutatingAdmissionPolicyBinding"), Plural: "mutatingadmissionpolicybindings", ClusterScoped: true})
}

func newManager(t *testing.T, cluster *fakecluster.Cluster, o ctrl.Options) ctrl.Manager {
	t.Helper()
	ctrl.SetLogger(klog.Background())
	if o.Scheme == nil {
		o.Scheme = newScheme()
	}
	o.Metrics = server.Options{BindAddress: "0"}
	m, err := ctrl.NewManager(cluster.Config("manager"), o)
	must(t, err)
	return m
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme, sidecarv1alpha1.AddToScheme,
		availabilityv1alpha1.AddToScheme, distributionv1alpha1.AddToScheme, lifecyclev1alpha1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// start runs a manager, until the function is called that it returns.
func start(ctx context.Context, t *testing.T, m ctrl.Manager) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// create creates an object with its status.
func create(ctx context.Context, t *testing.T, c client.Client, text string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(text), &object.Object))
	if object.GetName() == "" {
		object.SetName("web")
	}
	namespaced, err := c.IsObjectNamespaced(object)
	must(t, err)
	if namespaced {
		object.SetNamespace("default")
	}
	status, has := object.Object["status"]
	must(t, c.Create(ctx, object))
	if has {
		object.Object["status"] = status
		must(t, c.Status().Update(ctx, object))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reconciled notes which controllers have reconciled without an error.
type reconciled struct {
	lock  sync.Mutex
	names map[string]bool
}

func (r *reconciled) Reconciled(controller string, _ time.Duration, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.names[controller] = r.names[controller] || err == nil
}

// lacks returns the names of kinds that have not reconciled yet.
func (r *reconciled) lacks(kinds map[string]podwright.Kind) (left []string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, k := range kinds {
		if !r.names[k.Name] {
			left = append(left, k.Name)
		}
	}
	slices.Sort(left)
	return left
}
