// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// The resources of the tests, beside those that every fake cluster has.
var (
	spreadResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), "workloadspreads")
	others         = []fakecluster.Resource{
		fakecluster.CustomResource(workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		fakecluster.CustomResource(workloadsv1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} }),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "replicasets", func() any { return &appsv1.ReplicaSet{} }),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} }),
		fakecluster.BuiltIn(batchv1.SchemeGroupVersion.WithKind("Job"), "jobs", func() any { return &batchv1.Job{} }),
	}
)

// cluster is a fake cluster with WorkloadSpreads.
type cluster struct {
	*fixture.Cluster
	spreads client.Interface
	options Options
}

func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	var c *cluster
	fixture.Play(t, spreadResource, func(f *fixture.Cluster) { c = newCluster(f) }, func(t *testing.T) { story(t, c) }, others...)
}

func newCluster(f *fixture.Cluster) *cluster {
	return &cluster{Cluster: f, spreads: connect(f, fixture.TestUser, client.NewForConfig), options: Options{
		Kubernetes: f.Client(fixture.ControllerUser), Distribution: connect(f, fixture.ControllerUser, client.NewForConfig),
		Workloads: connect(f, fixture.ControllerUser, workloadsclient.NewForConfig), ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of},
	}}
}

func connect[C any](f *fixture.Cluster, user string, connect func(*rest.Config) (C, error)) C {
	f.T.Helper()
	return fixture.Connect(f.T, f.Server, user, connect)
}

// start runs a controller with informers of its own. The function it returns stops it.
func (c *cluster) start(edits ...func(*Options)) (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Metrics = reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o, edits...)
}

// change merges a patch into an object, such as apps/v1/deployments/web or a subresource of it; an empty patch deletes it. Without a path
// the object is the WorkloadSpread web.
func (c *cluster) change(path, patch string) {
	c.T.Helper()
	verb := "patch"
	if patch == "" {
		verb = "delete"
	}
	c.Object(verb, cmp.Or(path, "apps.kruise.io/v1alpha1/workloadspreads/web"), patch)
}

// deployment creates the Deployment of a name.
func (c *cluster) deployment(name string, replicas int) {
	c.T.Helper()
	c.Object("create", "apps/v1/deployments", fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q,"namespace":"default"},"spec":{"replicas":%d}}`, name, replicas))
}

// scale changes how many pods a Deployment wants.
func (c *cluster) scale(name string, replicas int) {
	c.T.Helper()
	c.change("apps/v1/deployments/"+name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}

// replicaSet creates a ReplicaSet of a Deployment, and returns the reference of its pods.
func (c *cluster) replicaSet(deployment string, revision, replicas int) metav1.OwnerReference {
	c.T.Helper()
	d := c.Object("get", "apps/v1/deployments/"+deployment, "")
	name := fmt.Sprint(deployment, "-", revision)
	return owns(c.Object("create", "apps/v1/replicasets", fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":%q,"namespace":"default","labels":{"pod-template-hash":"%d"},
		"annotations":{"deployment.kubernetes.io/revision":"%d"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":%q,"uid":%q,"controller":true}]},"spec":{"replicas":%d}}`,
		name, revision, revision, deployment, d.UID, replicas)))
}

// owns is what pods refer to that an object controls.
func owns(of metav1.PartialObjectMetadata) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: of.APIVersion, Kind: of.Kind, Name: of.Name, UID: of.UID, Controller: new(true)}
}

// pod creates a pod of a ReplicaSet on a node, in a subset unless that is empty, and starts it.
func (c *cluster) pod(name, subset string, owner metav1.OwnerReference) {
	c.T.Helper()
	c.CreatePod(newPod(name, subset, owner, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-1" }))
	c.run(name)
}

func newPod(name, subset string, owner metav1.OwnerReference, changes ...func(*corev1.Pod)) *corev1.Pod {
	workload, hash, _ := strings.Cut(owner.Name, "-")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"pod-template-hash": hash}, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	if subset != "" {
		pod.Annotations = map[string]string{v1alpha1.MatchedWorkloadSpreadAnnotation: fmt.Sprintf(`{"name":%q,"subset":%q}`, workload, subset)}
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// run has a pod be ready.
func (c *cluster) run(name string) {
	c.T.Helper()
	c.PatchPod(name, `{"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","reason":null},{"type":"Ready","status":"True"}]}}`, "status")
}

// stuck has the scheduler report that it finds no node for a pod.
func (c *cluster) stuck(name string) {
	c.T.Helper()
	c.PatchPod(name, `{"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`, "status")
}

// newSpread is a WorkloadSpread with this spec in YAML beside the target, a Deployment of the same name.
func newSpread(t testing.TB, name, spec string) *v1alpha1.WorkloadSpread {
	t.Helper()
	ws := &v1alpha1.WorkloadSpread{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.WorkloadSpreadSpec{
		TargetReference: &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}}}
	if err := yaml.UnmarshalStrict([]byte(spec), &ws.Spec); err != nil {
		t.Fatal(err)
	}
	return ws
}

// createSpread creates a WorkloadSpread of the Deployment of its name, or of another one.
func (c *cluster) createSpread(name, spec string, of ...string) {
	c.T.Helper()
	ws := newSpread(c.T, append(of, name)[0], spec)
	ws.Name = name
	_, err := c.spreads.WorkloadSpreads("default").Create(c.T.Context(), ws, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
}

func (c *cluster) spread(name string) *v1alpha1.WorkloadSpread {
	c.T.Helper()
	ws, err := c.spreads.WorkloadSpreads("default").Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return ws
}

// show shows the status of a WorkloadSpread, and what its pods cost, by subset.
func (c *cluster) show(name string) string {
	c.T.Helper()
	status := &c.spread(name).Status
	lines := []string{describe(status)}
	if status.VersionedSubsetStatuses != nil {
		lines = append(lines, "it counts by versions")
	}
	for _, pod := range c.Pods() {
		matched, readable := spread.Matched(&pod)
		if !strings.HasPrefix(pod.OwnerReferences[0].Name, name+"-") {
			continue
		}
		if text := pod.Name; readable || pod.Annotations[corev1.PodDeletionCost] != "" {
			text += ":"
			if readable {
				text += " " + matched.Subset
			}
			if cost := pod.Annotations[corev1.PodDeletionCost]; cost != "" {
				text += " " + cost
			}
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

const (
	twoLimits = "subsets: [{name: a, maxReplicas: 2}, {name: b, maxReplicas: 2}, {name: c}]"
	adaptive  = twoLimits + "\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}"
)
