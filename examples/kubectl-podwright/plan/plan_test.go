// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cases is how many random CloneSets are planned for.
const cases = 500

// What is planned is what the controller then does, which reads informers and not the API server. (KC-19)
func TestPlanIsWhatHappens(t *testing.T) {
	moving := 0
	for seed := range uint64(cases) {
		c := newCluster(t, rand.New(rand.NewPCG(seed, 1)))
		planned := c.planned()
		if done := c.reconciled(); !slices.Equal(planned, done) {
			t.Fatalf("seed %d: planned are\n%q\nand done\n%q", seed, planned, done)
		} else if len(done) > 0 {
			moving++
		}
	}
	if moving < cases/2 {
		t.Errorf("only in %d of %d cases is anything done", moving, cases)
	}
}

var key = types.NamespacedName{Namespace: "default", Name: "web"}

// cluster has a CloneSet with pods.
type cluster struct {
	t      *testing.T
	server *fakecluster.Server
	kube   kubernetes.Interface
	sets   client.Interface
	clock  *testclock.FakeClock
}

func newCluster(t *testing.T, random *rand.Rand) *cluster {
	t.Helper()
	c := &cluster{t: t, clock: testclock.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	c.server = fakecluster.New(c.clock, fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"))
	c.kube = kubernetes.NewForConfigOrDie(c.server.Config("test"))
	var err error
	if c.sets, err = client.NewForConfig(c.server.Config("test")); err != nil {
		t.Fatal(err)
	}
	set, err := c.sets.CloneSets(key.Namespace).Create(context.Background(), randomSet(random), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range random.IntN(7) {
		c.createPod(set, i, random)
	}
	return c
}

func randomSet(random *rand.Rand) *v1alpha1.CloneSet {
	number := func(most int) *intstr.IntOrString { return ptr.To(intstr.FromInt32(int32(random.IntN(most + 1)))) }
	set := &v1alpha1.CloneSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CloneSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: ptr.To(int32(random.IntN(7))), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:2"}}}},
			UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{
				Type:      []v1alpha1.CloneSetUpdateStrategyType{"ReCreate", "InPlaceIfPossible", "InPlaceOnly"}[random.IntN(3)],
				Partition: number(4), MaxUnavailable: number(4), Paused: random.IntN(5) == 0},
		},
	}
	if random.IntN(3) == 0 && set.Spec.UpdateStrategy.Type != "InPlaceOnly" {
		set.Spec.UpdateStrategy.MaxSurge = number(2)
	}
	if random.IntN(3) == 0 {
		set.Spec.ScaleStrategy.PodsToDelete = []string{"web-1"}
	}
	return set
}

// createPod creates a pod of the image nginx:1, ready or not.
func (c *cluster) createPod(set *v1alpha1.CloneSet, i int, random *rand.Rand) {
	c.t.Helper()
	name := fmt.Sprintf("web-%d", i)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet"))},
			Labels: map[string]string{"app": "web", appsv1.ControllerRevisionHashLabelKey: "web-old", "pod-template-hash": "old",
				"apps.kruise.io/cloneset-instance-id": fmt.Sprint(i), "lifecycle.apps.kruise.io/state": "Normal"}},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}}},
	}
	if random.IntN(6) == 0 {
		pod.Labels["apps.kruise.io/specified-delete"] = "true"
	}
	pod, err := c.kube.CoreV1().Pods(key.Namespace).Create(context.Background(), pod, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	ready := corev1.ConditionTrue
	if random.IntN(4) == 0 {
		ready = corev1.ConditionFalse
	}
	pod.Status.Phase = corev1.PodRunning
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady, "InPlaceUpdateReady"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: ready})
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "nginx:1", ImageID: "one", ContainerID: "c://1",
		Ready: ready == corev1.ConditionTrue, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	if _, err := c.kube.CoreV1().Pods(key.Namespace).UpdateStatus(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// plan plans for the CloneSet.
func (c *cluster) plan() *plan.Plan {
	c.t.Helper()
	planner, err := plan.NewPlanner(c.server.Config("planner"), meta.NewDefaultRESTMapper(nil), c.clock, gatesOf(c.t, podwright.Release14), switches.NewSettings())
	if err != nil {
		c.t.Fatal(err)
	}
	set, err := c.sets.CloneSets(key.Namespace).Get(context.Background(), key.Name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	set.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CloneSet"}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := planner.Plan(context.Background(), &workload.Object{Unstructured: unstructured.Unstructured{Object: fields}})
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

// planned lists the writes to pods that are planned.
func (c *cluster) planned() []string {
	c.t.Helper()
	writes := map[string]string{"create": "create", "delete": "delete", "recreate": "delete"}
	var all []string
	for _, row := range c.plan().Rows() {
		switch verb := writes[row.Action]; {
		case row.Rule != "":
		case verb != "":
			all = append(all, verb+" "+row.Pod)
		default:
			all = append(all, "patch "+row.Pod)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// reconciled lists the writes to pods that the controller then makes.
func (c *cluster) reconciled() []string {
	c.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	kube := kubernetes.NewForConfigOrDie(c.server.Config("controller"))
	sets, err := client.NewForConfig(c.server.Config("controller"))
	if err != nil {
		c.t.Fatal(err)
	}
	core := caches.NewInformers(kube, key.Namespace)
	options := cloneset.Options{Kubernetes: kube, Workloads: sets, NoNodes: true, ControllerOptions: podwright.ControllerOptions{Clock: c.clock},
		CloneSets: client.NewCloneSetInformer(sets, key.Namespace, 0, cache.Indexers{}), Pods: core.Pods(), Claims: core.Claims(), Revisions: core.Revisions()}
	controller, err := cloneset.New(options)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, informer := range []cache.SharedIndexInformer{options.CloneSets, options.Pods, options.Claims, options.Revisions} {
		go informer.RunWithContext(ctx)
		<-informer.HasSyncedChecker().Done()
	}
	if _, err := controller.Reconcile(ctx, key); err != nil {
		c.t.Fatal(err)
	}
	var all []string
	for _, r := range c.server.Requests("controller") {
		if r.Resource != "pods" || r.Verb == "list" || r.Verb == "watch" {
			continue
		}
		all = append(all, r.Verb+" "+nameIn(c.t, &r))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nameIn is the name of the object that a request is about.
func nameIn(t *testing.T, r *fakecluster.Request) string {
	t.Helper()
	if r.Verb != "create" {
		return r.Name
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(r.Body, &object); err != nil {
		t.Fatal(err)
	}
	return object.Name
}
