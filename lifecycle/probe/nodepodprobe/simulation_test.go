// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestSimulation has users change markers and pods at random, amid everything that can go wrong. Agents report whatever
// they like, and nodes come and go. The test judges each write of the controllers of markers and of nodes, which run in one
// process.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&bug{}))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&bug{}), 1)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.PodProbeMarker]{Create: podprobemarker.ValidateCreate, Update: podprobemarker.ValidateUpdate,
		Immutable: map[string]string{"selector": `{"selector":{"matchLabels":{"app":"other"}}}`}}, simulated(&bug{}))
}

// simulated is what a simulation needs to know of markers and nodes, of whose controllers one has a bug.
func simulated(bug *bug) *simulation.Subject {
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("PodProbeMarker"), string(resourceMarkers)),
		Empty:    func() simulation.Object { return &v1alpha1.PodProbeMarker{} },
		Further: []simulation.Further{{
			Resource: fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodePodProbe"), Name: string(resourceNodePodProbes), ClusterScoped: true, Status: true, Generation: true},
			Empty:    func() simulation.Object { return &v1alpha1.NodePodProbe{} },
		}},
		Nodes:        2,
		Create:       func(r *rand.Rand) simulation.Object { return anyMarker(simulation.Web.Name, r) },
		Start:        func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Webhooks:     1,
		StartWebhook: func(p *simulation.Process) (simulation.Webhook, error) { return startWebhook(p, bug) },
		Patience:     20 * time.Minute,
		Populate:     populate,
		Others:       report,
		Release:      reportMissing,
		Act:          bug.controller.Act(act),
		Rare:         actRarely,
		Push:         push,
		Ignores:      []string{string(caches.Claims), string(caches.Revisions)},
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.PodProbes, Settled: invariants.PodProbesSettled}
		},
	}
}

// filled is an informer of a process, which has what the history has shown it.
type filled struct{ cache.SharedIndexInformer }

func (filled) HasSynced() bool { return true }

// startWebhook starts the step of the webhook of pods that hands probes over. What it makes of each new pod is judged.
func startWebhook(p *simulation.Process, bug *bug) (simulation.Webhook, error) {
	lifecycle, err := client.NewForConfig(p.Config)
	if err != nil {
		return nil, err
	}
	step, err := podprobemarker.NewInjector(podprobemarker.InjectorOptions{Lifecycle: lifecycle, Markers: filled{p.Informer(string(resourceMarkers))}})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		pod, ok := request.Object.Object.(*corev1.Pod)
		if request.Operation != admissionv1.Create || !ok {
			return admission.Allowed()
		}
		before, asked := pod.DeepCopy(), pod.DeepCopy()
		if bug.webhookSees != nil {
			bug.webhookSees(asked)
		}
		if err := step.Mutate(ctx, request, asked); err != nil {
			return admission.Errored(err)
		}
		for _, key := range []string{v1alpha1.PodProbesAnnotation, v1alpha1.PodProbeMarkersAnnotation} {
			if value, has := asked.Annotations[key]; has {
				metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
			}
		}
		if bug.webhookMakes != nil {
			bug.webhookMakes(pod)
		}
		p.Violates(invariants.ProbesHandedOver(p.Cached(), before, pod)...)
		return admission.Allowed()
	}, nil
}

// blind is a Reader that shows no NodePodProbes.
type blind struct{ podwright.Reader }

func (r blind) ByIndex(resource podwright.Resource, namespace string, index podwright.Index, key string) ([]any, error) {
	if resource == resourceNodePodProbes {
		return nil, nil
	}
	return r.Reader.ByIndex(resource, namespace, index, key)
}

// both are the controllers of a process. What they do is judged by what they have observed last, so that each reconcile is of one
// marker or of one node.
type both struct {
	reader  caches.Reader
	nodes   Reconciler
	markers podprobemarker.Reconciler

	shown   string                             // how far the caches were at the last reconcile
	pending []types.NamespacedName             // those that are to be reconciled, nodes without a namespace
	refills int                                // how often there were others to reconcile
	due     map[types.NamespacedName]time.Time // when others asked to be
	seen    map[types.NamespacedName]bool      // all nodes that there ever were
}

func startSimulated(p *simulation.Process, bug *bug) (simulation.Controller, error) {
	b := &both{reader: caches.Reader{}, due: map[types.NamespacedName]time.Time{}, seen: map[types.NamespacedName]bool{}}
	for _, resource := range []podwright.Resource{resourceMarkers, resourceNodePodProbes, resourcePods, caches.Nodes} {
		b.reader[resource] = p.Informer(string(resource)).GetIndexer()
	}
	var err error
	var options Options
	b.nodes, err = bug.controller.Start(p, func(p *simulation.Process) (o Options, err error) {
		o.Features.Serverless = true
		o.Reader = readers.Noting{Reader: b.reader, Resource: caches.Nodes, Note: p.Observe}
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Lifecycle, err = client.NewForConfig(p.Config)
		}
		options = o
		return o, err
	}, NewReconciler)
	if err != nil {
		return simulation.Controller{}, err
	}
	ofMarkers := podprobemarker.Options{Kubernetes: options.Kubernetes, Lifecycle: options.Lifecycle}
	if ofMarkers.Reader = b.reader; bug.blind {
		ofMarkers.Reader = blind{b.reader}
	}
	ofMarkers.Reader = readers.Noting{Reader: ofMarkers.Reader, Resource: resourceMarkers, Note: p.Observe}
	b.markers, err = podprobemarker.NewReconciler(ofMarkers)
	return simulation.Controller{Reconcile: b.reconcile, Unfinished: b.unfinished}, err
}

// keys lists the markers and the nodes of the caches, and nodes that there were, in the same order every time.
func (b *both) keys() (all []types.NamespacedName) {
	for _, resource := range []podwright.Resource{caches.Nodes, resourceNodePodProbes} {
		for _, object := range b.reader[resource].List() {
			b.seen[cache.MetaObjectToName(object.(metav1.Object)).AsNamespacedName()] = true
		}
	}
	all = slices.Collect(maps.Keys(b.seen))
	for _, object := range b.reader[resourceMarkers].List() {
		all = append(all, cache.MetaObjectToName(object.(metav1.Object)).AsNamespacedName())
	}
	slices.SortFunc(all, func(a, b types.NamespacedName) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// enqueue has everything reconciled when a cache has changed, and otherwise what is due.
func (b *both) enqueue() {
	shown := ""
	for _, resource := range []podwright.Resource{resourceMarkers, resourceNodePodProbes, resourcePods, caches.Nodes} {
		shown += b.reader.SyncedResourceVersion(resource) + " "
	}
	if shown != b.shown {
		b.shown, b.pending, b.refills = shown, b.keys(), b.refills+1
		if b.refills%2 == 0 { // markers and nodes have queues of their own: neither is always first
			slices.Reverse(b.pending)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(b.due), func(a, b types.NamespacedName) int { return cmp.Compare(a.String(), b.String()) }) {
		if !b.due[key].After(time.Now()) && !slices.Contains(b.pending, key) {
			b.pending = append(b.pending, key)
		}
	}
}

// reconcile reconciles the next marker or node.
func (b *both) reconcile(ctx context.Context, _ types.NamespacedName) (requeueAfter time.Duration, err error) {
	b.enqueue()
	if len(b.pending) > 0 {
		key := b.pending[0]
		b.pending = b.pending[1:]
		delete(b.due, key)
		one := b.nodes.Reconcile
		if key.Namespace != "" {
			one = b.markers.Reconcile
		}
		if requeueAfter, err = one(ctx, key); err != nil {
			b.pending = append(b.pending, key)
			return 0, err
		}
		if requeueAfter > 0 {
			b.due[key] = time.Now().Add(requeueAfter)
		}
	}
	if len(b.pending) > 0 {
		return time.Millisecond, nil
	}
	requeueAfter = 0
	for _, at := range b.due {
		if after := max(time.Until(at), time.Millisecond); requeueAfter == 0 || after < requeueAfter {
			requeueAfter = after
		}
	}
	return requeueAfter, nil
}

// unfinished shows what there is to do for any of them.
func (b *both) unfinished() (string, error) {
	for _, key := range b.keys() {
		if key.Namespace == "" {
			plan, err := b.nodes.Plan(context.Background(), key)
			if err != nil || plan != nil && (plan.Create != nil || plan.Delete || plan.Spec != nil || len(plan.Patches) > 0) {
				return fmt.Sprintf("node %s: %+v", key, plan), err
			}
			continue
		}
		plan, err := b.markers.Plan(context.Background(), key)
		if err != nil || plan != nil && (plan.Finalizers != nil || plan.Status != nil) {
			return fmt.Sprintf("marker %s: %+v", key, plan), err
		}
	}
	return "", nil
}
