// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var histories = flag.Uint64("histories", 60, "how many histories of each kind are played")

// longest is how many steps a history has at most.
const longest = 120

// controller is one that a test has reconcile.
type controller struct {
	reconcile func(ctx context.Context, key types.NamespacedName) (time.Duration, error)
	run       func(ctx context.Context) error
}

// end ends what a controller has started when it was made.
func (c *controller) end() {
	ctx, stop := context.WithCancel(silent(context.Background()))
	stop()
	_ = c.run(ctx) // no error: it was to end
}

// silent is a context without a log.
func silent(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// controlled is a kind of workload with its controller.
type controlled struct {
	*simulation.Subject
	// caches makes the informers of a controller, by resource.
	caches func(c *clients) informers
	// release is the one whose gates the planner is told, and the controller has.
	release podwright.Release
	// controller makes a controller on them.
	controller func(c *clients, caches informers) (*controller, error)
}

// clients are those of a controller.
type clients struct {
	kube      kubernetes.Interface
	workloads client.Interface
	sidecar   sidecarclient.Interface
}

func newClients(config *rest.Config) (c *clients, err error) {
	c = &clients{}
	if c.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.workloads, err = client.NewForConfig(config); err != nil {
		return nil, err
	}
	c.sidecar, err = sidecarclient.NewForConfig(config)
	return c, err
}

// informers are those of a controller, by resource.
type informers map[string]cache.SharedIndexInformer

// The controller, users, kubelets, crashes and lost answers bring a workload into some state. Then a new controller starts. The
// plan is what this controller does in its first reconcile, or in the second one if the name of a revision was taken. (KC-19)
func TestPlanInHistories(t *testing.T) {
	for _, k := range []*controlled{cloneSets(), statefulSets(podwright.Release14), statefulSets(podwright.Release19), daemonSets(), sidecarSets(), unitedDeployments()} {
		t.Run(k.Resource.Kind+string(k.release), func(t *testing.T) {
			t.Parallel()
			moving := uint64(0)
			for seed := range *histories {
				steps := 1 + rand.New(rand.NewPCG(seed, 2)).IntN(longest)
				var processes []*controller
				simulation.Reach(t, k.simulated(&processes), seed, steps, func(t *testing.T, server *fakecluster.Server) {
					for _, c := range processes {
						c.end()
					}
					planned, otherwise := plannedWrites(t, server, k)
					done, err := writesWithName(t, server, k)
					if err != nil { // what fails may change what is done next
						planned, done = without(planned, otherwise), without(done, otherwise)
					}
					if !slices.Equal(planned, done) {
						t.Fatalf("seed %d, %d steps: planned are\n%q\nand done, with the error %v,\n%q", seed, steps, planned, err, done)
					}
					if len(done) > 0 {
						moving++
					}
				})
				if t.Failed() {
					return
				}
			}
			if moving < *histories/10 {
				t.Errorf("only in %d of %d histories is anything done", moving, *histories)
			}
		})
	}
}

// compact leaves of equal writes one, of the same object; those without a name are of several.
func compact(sorted []string) []string {
	return slices.CompactFunc(sorted, func(a, b string) bool { return a == b && !strings.HasSuffix(a, "*") })
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(write string) bool { return slices.Contains(some, write) })
}

// simulated is the workload with controllers that are on the caches of the simulation. They are listed.
func (k *controlled) simulated(all *[]*controller) *simulation.Subject {
	w := *k.Subject
	w.Judge = func(uint64) simulation.Judge { return simulation.Judge{} }
	w.Start = func(p *simulation.Process) (simulation.Controller, error) {
		clients, err := newClients(p.Config)
		if err != nil {
			return simulation.Controller{}, err
		}
		of := informers{}
		for resource := range k.caches(clients) {
			of[resource] = p.Informer(resource)
		}
		c, err := k.controller(clients, of)
		if err != nil {
			return simulation.Controller{}, err
		}
		*all = append(*all, c)
		return simulation.Controller{Reconcile: c.reconcile, Unfinished: func() (string, error) { return "", nil }}, nil
	}
	return &w
}

// gatesOf are the gates of a release, and with 1.9 those of StatefulSets that it leaves off.
func gatesOf(t *testing.T, release podwright.Release) *features.Gates {
	t.Helper()
	flags := features.Flags{Release: release}
	if release == podwright.Release19 {
		flags.Gates = "StatefulSetStartOrdinal=true,PreparingUpdateAsUpdate=true,StatefulSetAutoResizePVCGate=true"
	}
	gates, err := flags.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return gates
}

// mapper knows the kinds of workloads that UnitedDeployments of the tests make.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.SchemeGroupVersion})
	m.Add(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), meta.RESTScopeNamespace)
	return m
}

// plannedWrites lists the writes to pods, workloads of subsets and revisions that the plugin says of the next reconcile. The
// reconcile makes those in otherwise only if others fail.
func plannedWrites(t *testing.T, server *fakecluster.Server, k *controlled) (planned, otherwise []string) {
	t.Helper()
	config := server.Config("planner")
	planner, err := plan.NewPlanner(config, mapper(), clock.RealClock{}, gatesOf(t, cmp.Or(k.release, podwright.Release14)), switches.NewSettings())
	if err != nil {
		t.Fatal(err)
	}
	u, err := k.get(t.Context(), config)
	if apierrors.IsNotFound(err) { // users delete it, too
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Plan(t.Context(), &workload.Object{Unstructured: *u})
	if err != nil {
		t.Fatal(err)
	}
	planned = append(writesOfRows(p), writesOfRevisions(p)...)
	for _, d := range p.Otherwise.Delete {
		otherwise = append(otherwise, "delete pods "+d.Pod.Name)
	}
	for _, change := range p.Otherwise.Patch {
		otherwise = append(otherwise, "patch pods "+change.Pod.Name)
	}
	slices.Sort(planned)
	return compact(planned), otherwise
}

// resources are those of the types that rows name.
var resources = map[string]string{"cloneset.apps.kruise.io": "clonesets", "deployment.apps": "deployments", "statefulset.apps": "statefulsets"}

// writesOfRows lists the writes to pods and workloads.
func writesOfRows(p *plan.Plan) (all []string) {
	verbs := map[string]string{"create": "create", "delete": "delete", "recreate": "delete", "replace": "delete"}
	for _, row := range p.Rows() {
		if row.Rule != "" || strings.HasPrefix(row.Pod, "claim ") {
			continue
		}
		of, name, found := strings.Cut(row.Pod, "/") // a type, or the namespace of a pod
		if !found {
			name = row.Pod
		}
		all = append(all, strings.Join([]string{cmp.Or(verbs[row.Action], "patch"), cmp.Or(resources[of], "pods"), name}, " "))
	}
	return all
}

// writesOfRevisions lists the writes to revisions.
func writesOfRevisions(p *plan.Plan) (all []string) {
	c := &p.Revisions
	if c.Create != nil {
		all = append(all, "create controllerrevisions "+c.Create.Name)
	}
	if c.Raise != nil {
		all = append(all, "patch controllerrevisions "+c.Raise.Name)
	}
	for _, r := range c.Adopt {
		all = append(all, "patch controllerrevisions "+r.Name)
	}
	for _, r := range c.Delete {
		all = append(all, "delete controllerrevisions "+r.Name)
	}
	return all
}

// writesWithName is writesOf, once the controller has found a name for its revision that no other revision has.
func writesWithName(t *testing.T, server *fakecluster.Server, k *controlled) (all []string, err error) {
	t.Helper()
	for collided := false; ; {
		before := k.collisions(t, server)
		done, err := writesOf(t, server, k)
		if err != nil || k.collisions(t, server) == before {
			if k.Resource.Kind == "CloneSet" && collided {
				done = withoutNames(done)
			}
			all = append(all, done...)
			slices.Sort(all)
			return compact(all), err
		}
		collided = true
		all = append(all, slices.DeleteFunc(done, func(write string) bool { return strings.HasPrefix(write, "create controllerrevisions ") })...)
	}
}

// withoutNames leaves the names of new pods out.
func withoutNames(writes []string) []string {
	for i, write := range writes {
		if strings.HasPrefix(write, "create pods ") {
			writes[i] = write[:strings.LastIndexByte(write, '-')+1] + "*"
		}
	}
	return writes
}

// collisions returns how many collisions of names of revisions the status counts.
func (k *controlled) collisions(t *testing.T, server *fakecluster.Server) float64 {
	t.Helper()
	u, err := k.get(t.Context(), server.Config("reader"))
	if apierrors.IsNotFound(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	n, _, err := unstructured.NestedNumberAsFloat64(u.Object, "status", "collisionCount")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// get returns the workload.
func (k *controlled) get(ctx context.Context, config *rest.Config) (*unstructured.Unstructured, error) {
	namespace := key.Namespace
	if k.Resource.ClusterScoped {
		namespace = ""
	}
	resource := k.Resource.GroupVersion().WithResource(k.Resource.Name)
	return dynamic.NewForConfigOrDie(config).Resource(resource).Namespace(namespace).Get(ctx, key.Name, metav1.GetOptions{})
}

// writesOf has a controller start and reconcile once, and lists its writes to pods and revisions, those that are refused too.
func writesOf(t *testing.T, server *fakecluster.Server, k *controlled) ([]string, error) {
	t.Helper()
	ctx, stop := context.WithCancel(silent(t.Context()))
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	const user = "first"
	clients, err := newClients(server.Config(user))
	if err != nil {
		t.Fatal(err)
	}
	of := k.caches(clients)
	c, err := k.controller(clients, of)
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	for _, informer := range of {
		running.Go(func() { informer.RunWithContext(ctx) })
		<-informer.HasSyncedChecker().Done()
	}
	server.ForgetRequests()
	_, err = c.reconcile(ctx, key)
	return writes(t, server, user, k.Resource.Name), err
}

// writes lists the writes of a user to pods, revisions and workloads, but not to those of a resource.
func writes(t *testing.T, server *fakecluster.Server, user, but string) (all []string) {
	t.Helper()
	written := []string{"pods", "controllerrevisions", "clonesets", "deployments", "statefulsets"}
	for _, r := range server.Requests(user) {
		if r.Verb == "create" || r.Verb == "patch" || r.Verb == "update" || r.Verb == "delete" {
			if slices.Contains(written, r.Resource) && r.Resource != but {
				all = append(all, fmt.Sprintf("%s %s %s", r.Verb, r.Resource, nameIn(t, &r)))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// newCaches returns the informers of built-in kinds.
func newCaches(kube kubernetes.Interface) informers {
	core := caches.NewInformers(kube, key.Namespace)
	return informers{"pods": core.Pods(), "controllerrevisions": core.Revisions()}
}
