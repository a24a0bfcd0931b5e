// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	evictionResource = fakecluster.CustomResource(evictionresponder.SchemeGroupVersion.WithKind("Eviction"), "evictions")
	cloneSetResource = fakecluster.CustomResource(workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets")
)

const namespace = "default" // of the fixture

// connect makes a client of Evictions.
func connect(config *rest.Config) (*evictionresponder.Client, error) {
	return evictionresponder.NewClient(config, nil)
}

// others plays all but the responder: users, CloneSets, and the controller that makes Evictions.
type others struct {
	*fixture.Cluster
	evictions evictionresponder.EvictionInterface
	sets      workloadsclient.CloneSetInterface
	asked     []string // what has happened before requests, and when
}

func newOthers(c *fixture.Cluster) *others {
	return &others{Cluster: c,
		evictions: fixture.Connect(c.T, c.Server, fixture.TestUser, connect).Evictions(namespace),
		sets:      fixture.Connect(c.T, c.Server, fixture.TestUser, workloadsclient.NewForConfig).CloneSets(namespace)}
}

// pod creates a pod, which is the only one of a CloneSet of its name with that maxSurge, and has it run.
func (o *others) pod(name string, maxSurge int) {
	o.T.Helper()
	set, err := o.sets.Create(o.T.Context(), &workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: workloadsv1alpha1.CloneSetSpec{Replicas: new(int32(1)), UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{MaxSurge: new(intstr.FromInt(maxSurge))}}}, metav1.CreateOptions{})
	o.Must(err)
	o.podOf(set, name)
	o.KubeletStep()
	o.KubeletStep()
}

func (o *others) podOf(set *workloadsv1alpha1.CloneSet, name string) {
	o.T.Helper()
	o.CreatePod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"))}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}})
}

// makeRoom does what CloneSets do about pods that are noted: there is one more of each.
func (o *others) makeRoom() {
	o.T.Helper()
	for _, pod := range o.Pods() {
		if lifecycle.AwaitsEviction(&pod, pod.CreationTimestamp.Time) == 0 {
			continue
		}
		set, err := o.sets.Get(o.T.Context(), metav1.GetControllerOfNoCopy(&pod).Name, metav1.GetOptions{})
		o.Must(err)
		_, err = o.Kube.CoreV1().Pods(namespace).Get(o.T.Context(), pod.Name+"-new", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			o.podOf(set, pod.Name+"-new")
		}
	}
}

// evictAs makes an Eviction of a pod, and the responder active.
func (o *others) evictAs(name, podName string) {
	o.T.Helper()
	pod, err := o.Kube.CoreV1().Pods(namespace).Get(o.T.Context(), podName, metav1.GetOptions{})
	o.Must(err)
	eviction := &evictionresponder.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}}
	eviction.Spec.Target.Pod = &evictionresponder.PodReference{Name: podName, UID: pod.UID}
	_, err = o.evictions.Create(o.T.Context(), eviction, metav1.CreateOptions{})
	o.Must(err)
	o.status(name, map[string]any{"status": map[string]any{
		"requesters":       []any{map[string]any{"name": "acme.io/drain", "intent": "Eviction"}},
		"targetResponders": targets(evictionresponder.ResponderActive),
		"responders": []any{map[string]any{"name": "imperative-eviction.k8s.io/evictor"},
			map[string]any{"name": evictionresponder.ResponderName, "startTime": metav1.Now(), "fieldOfTheFuture": "kept"}},
	}})
}

func targets(state evictionresponder.ResponderState) []any {
	return []any{map[string]any{"name": evictionresponder.ResponderName, "priority": evictionresponder.ResponderPriority, "state": state},
		map[string]any{"name": "imperative-eviction.k8s.io/evictor", "priority": 100, "state": evictionresponder.ResponderInactive}}
}

// turn changes the state of the responder.
func (o *others) turn(name string, state evictionresponder.ResponderState) {
	o.T.Helper()
	o.status(name, map[string]any{"status": map[string]any{"targetResponders": targets(state)}})
}

func (o *others) status(name string, patch any) {
	o.T.Helper()
	data, err := json.Marshal(patch)
	o.Must(err)
	_, err = o.evictions.Patch(o.T.Context(), name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	o.Must(err)
}

// reported is what the responder has reported last: whether it is through, and its message.
func (o *others) reported(name string) string {
	o.T.Helper()
	eviction, err := o.evictions.Get(o.T.Context(), name, metav1.GetOptions{})
	o.Must(err)
	own := eviction.Status.Responders[1]
	message := "nothing"
	if own.Message != nil {
		message = *own.Message
	}
	if own.CompletionTime != nil {
		return "through: " + message
	}
	return message
}

// options are those of a responder on the fake cluster.
func options(t *testing.T, c *fixture.Cluster) evictionresponder.Options {
	return evictionresponder.Options{
		Kubernetes: c.Client(fixture.ControllerUser), ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of},
		EvictionClient: fixture.Connect(t, c.Server, fixture.ControllerUser, connect),
		Workloads:      fixture.Connect(t, c.Server, fixture.ControllerUser, workloadsclient.NewForConfig),
	}
}
