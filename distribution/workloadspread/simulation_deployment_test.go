// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/simulation"
)

// What the model of the controller of Deployments makes: ReplicaSets, and what it calls their number.
const (
	replicaSets        = "replicasets"
	deploymentRevision = "deployment.kubernetes.io/revision"
)

// deploymentBeside is what a simulation needs to know of the Deployment that is spread, whose controller is a model.
func deploymentBeside(*bug) *simulation.Subject {
	return &simulation.Subject{
		Resource: others[2],
		Empty:    func() simulation.Object { return &appsv1.Deployment{} },
		Create:   anyDeployment,
		Start:    startDeployment,
		Ignores:  []string{spreadResource.Name, "persistentvolumeclaims", "controllerrevisions", "nodes"}, // as those of Kubernetes do: a webhook writes at each creation
		Act: func(u *simulation.User, r *rand.Rand) {
			if rs := u.AnyObject(replicaSets, r); rs != nil && r.IntN(15) == 0 {
				u.DeleteObject(replicaSets, rs.GetName(), metav1.DeletePropagationBackground)
				return
			}
			u.Edit(simulation.AnyEdit(r, deploymentEdits))
		},
		Push: func(u *simulation.User) { // a rollout of all pods
			u.Edit(`{"spec":{"replicas":6,"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}}}}`)
		},
		Judge: simulation.Unjudged,
	}
}

func anyDeployment(r *rand.Rand) simulation.Object {
	return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{
		Replicas: new(1 + r.Int32N(6)),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: webTemplate(),
	}}
}

func webTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
}

var deploymentEdits = simulation.ReadEdits("deploymentEdits")

// model is a model of a controller of Kubernetes. It sees what there is, not caches.
type model struct {
	process *simulation.Process
	kube    kubernetes.Interface
}

type reconciles func(context.Context, types.NamespacedName) (time.Duration, error)

func started(p *simulation.Process, as func(model) reconciles) (simulation.Controller, error) {
	kube, err := p.Kubernetes()
	return simulation.Controller{Reconcile: as(model{p, kube}), LastRetry: 1000 * time.Second, // as controllers of Kubernetes
		Unfinished: func() (string, error) { return "", nil }}, err
}

// create creates a pod of a workload, about which the webhook is asked.
func (m *model) create(ctx context.Context, of metav1.Object, kind schema.GroupVersionKind, template *corev1.PodTemplateSpec, finalizers ...string) error {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.GenerateName, pod.Finalizers, pod.OwnerReferences = of.GetName()+"-", finalizers, []metav1.OwnerReference{*metav1.NewControllerRef(of, kind)}
	if hash := of.GetLabels()[podTemplateHash]; hash != "" {
		pod.Labels[podTemplateHash] = hash
	}
	response := m.process.Create(ctx, &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: of.GetNamespace(), Object: runtime.RawExtension{Object: pod}})
	if !response.Allowed {
		return fmt.Errorf("the webhook refuses it: %s", response.Result.Message)
	}
	_, err := m.kube.CoreV1().Pods(of.GetNamespace()).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// remove deletes a pod.
func (m *model) remove(ctx context.Context, pod *corev1.Pod) error {
	return m.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *metav1.NewPreconditionDeleteOptions(string(pod.UID)))
}

// deployments is a model of the controllers of Deployments and ReplicaSets. It updates one pod beyond what is wanted at a time.
type deployments struct {
	model
	resource string
	kind     schema.GroupVersionKind
}

func startDeployment(p *simulation.Process) (simulation.Controller, error) {
	return startDeployments(p, "deployments", appsv1.SchemeGroupVersion.WithKind("Deployment"))
}

func startDeployments(p *simulation.Process, resource string, kind schema.GroupVersionKind) (simulation.Controller, error) {
	return started(p, func(m model) reconciles { return (&deployments{m, resource, kind}).reconcile })
}

func (d *deployments) reconcile(ctx context.Context, _ types.NamespacedName) (time.Duration, error) {
	live := d.process.Live(d.resource)
	if len(live) == 0 || live[0].GetDeletionTimestamp() != nil {
		return 0, nil
	}
	of, err := asDeployment(live[0])
	if err != nil {
		return 0, err
	}
	current, older, err := d.replicaSets(ctx, of)
	if err != nil {
		return 0, err
	}
	wants, old := int(*of.Spec.Replicas), 0
	for _, rs := range older {
		old += len(d.pods(rs))
	}
	surplus := old + count(d.pods(current), simulation.Ready) - wants
	for _, rs := range older {
		pods := d.pods(rs)
		gone := max(min(len(pods), surplus), 0)
		surplus, old = surplus-gone, old-gone
		if err := d.scale(ctx, rs, len(pods)-gone); err != nil {
			return 0, err
		}
	}
	return 0, d.scale(ctx, current, max(min(wants, wants+1-old), 0))
}

// replicaSets finds the ReplicaSet of the template of a Deployment, which is the newest, or makes one; and the others.
func (d *deployments) replicaSets(ctx context.Context, of *appsv1.Deployment) (current *appsv1.ReplicaSet, older []*appsv1.ReplicaSet, err error) {
	template, err := json.Marshal(of.Spec.Template)
	if err != nil {
		return nil, nil, err
	}
	sum := fnv.New32a()
	sum.Write(template)
	hash, highest := fmt.Sprintf("h%d", sum.Sum32()%100_000), 0
	for _, object := range d.process.Live(replicaSets) {
		rs := object.(*appsv1.ReplicaSet)
		if !metav1.IsControlledBy(rs, of) || rs.DeletionTimestamp != nil {
			continue
		}
		revision, _ := strconv.Atoi(rs.Annotations[deploymentRevision])
		highest = max(highest, revision)
		if rs.Labels[podTemplateHash] == hash {
			current = rs
			continue
		}
		older = append(older, rs)
	}
	api := d.kube.AppsV1().ReplicaSets(of.Namespace)
	switch {
	case current == nil:
		current = &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-" + hash, Labels: map[string]string{podTemplateHash: hash},
			Annotations:     map[string]string{deploymentRevision: strconv.Itoa(highest + 1)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, d.kind)}}}
		current.Spec.Replicas, current.Spec.Template = new(int32), *of.Spec.Template.DeepCopy()
		current, err = api.Create(ctx, current, metav1.CreateOptions{})
	case current.Annotations[deploymentRevision] != strconv.Itoa(highest):
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, deploymentRevision, highest+1)
		current, err = api.Patch(ctx, current.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	return current, older, err
}

// pods are the pods of a ReplicaSet that have not ended.
func (d *deployments) pods(of *appsv1.ReplicaSet) (pods []*corev1.Pod) {
	for _, object := range d.process.Live(string(resourcePods)) {
		if pod := object.(*corev1.Pod); metav1.IsControlledBy(pod, of) && simulation.Active(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

func count(pods []*corev1.Pod, which func(*corev1.Pod) bool) (n int) {
	for _, pod := range pods {
		if which(pod) {
			n++
		}
	}
	return n
}

// scale has a ReplicaSet have so many pods.
func (d *deployments) scale(ctx context.Context, rs *appsv1.ReplicaSet, to int) error {
	if *rs.Spec.Replicas != int32(to) {
		if _, err := d.kube.AppsV1().ReplicaSets(rs.Namespace).Patch(ctx, rs.Name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, to), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	pods := d.pods(rs)
	for range to - len(pods) {
		if err := d.create(ctx, rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), &rs.Spec.Template); err != nil {
			return err
		}
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(len(a.Spec.NodeName), len(b.Spec.NodeName)), cmp.Compare(costOf(a), costOf(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time))
	})
	for i := range len(pods) - to {
		if err := d.remove(ctx, pods[i]); err != nil {
			return err
		}
	}
	return nil
}
