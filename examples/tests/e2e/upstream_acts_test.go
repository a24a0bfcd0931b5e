// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/podwright/podwright/examples/tests/testbed"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What guarantees add to the manifest.
const (
	parallel = `{podManagementPolicy: Parallel}`
	onDelete = `{updateStrategy: {type: OnDelete}}`
	// held keeps every deleted pod until release is called: a container that takes its time to end.
	held = `{template: {metadata: {finalizers: [example.com/hold]}}}`
	// badImage is one that no pod ever becomes Ready with.
	badImage = `{template: {spec: {containers: [{name: main, image: "web:bad"}]}}}`
	// withClaims gives every pod a claim.
	withClaims = `
  template: {spec: {containers: [{name: main, image: "web:1", volumeMounts: [{name: data, mountPath: /data}]}]}}
  volumeClaimTemplates:
  - metadata: {name: data, labels: {tier: store}, annotations: {example.com/note: of the claim}}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
)

// release lets deleted pods go that held keeps.
func (p *play) release(pods ...string) {
	p.Helper()
	for _, pod := range pods {
		p.PatchPod(pod, map[string]any{"metadata": map[string]any{"$deleteFromPrimitiveList/finalizers": []string{"example.com/hold"}}})
	}
}

// setReady lets the container of a pod fail its readiness probe, or pass it.
func (p *play) setReady(name string, yes bool) {
	p.Helper()
	pods := steady.Core.CoreV1().Pods(p.Namespace)
	err := retry.RetryOnConflict(testbed.Conflicts, func() error {
		pod, err := pods.Get(p.Context(), name, metav1.GetOptions{})
		if err == nil {
			pod.Status.ContainerStatuses[0].Ready = yes
			_, err = pods.UpdateStatus(p.Context(), pod, metav1.UpdateOptions{})
		}
		return err
	})
	if err != nil {
		p.Fatalf("change the readiness of pod %s: %v", name, err)
	}
	p.AwaitPod(name, fmt.Sprintf("its readiness is %v", yes), func(pod *corev1.Pod) string {
		if ready(pod) != yes {
			return describe(pod)
		}
		return ""
	})
}

// openGate says that the readiness gate of a pod is met.
func (p *play) openGate(name string) {
	p.Helper()
	p.PatchPod(name, map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
		"type": "example.com/open", "status": "True",
	}}}}, "status")
}

// scaleThroughSubresource scales as an autoscaler does, and reads the scale as it does.
func (p *play) scaleThroughSubresource(replicas int64) {
	p.Helper()
	p.Await("the controller has seen the pods", p.uncounted)
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	scale, err := p.side.sets(p.Namespace).Patch(p.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
	if err != nil {
		p.Fatalf("scale to %d: %v", replicas, err)
	}
	selector, _, _ := unstructured.NestedString(scale.Object, "status", "selector")
	if scale.GetAPIVersion() != "autoscaling/v1" || scale.GetKind() != "Scale" || selector != "app=web" {
		p.Errorf("expected a Scale of autoscaling/v1 with the selector app=web, observed %v", scale.Object)
	}
	p.generation++
}

// deleteClaim deletes a claim, which stays until no pod uses it.
func (p *play) deleteClaim(name string) {
	p.Helper()
	if err := steady.Core.CoreV1().PersistentVolumeClaims(p.Namespace).Delete(p.Context(), name, metav1.DeleteOptions{}); err != nil {
		p.Fatalf("delete claim %s: %v", name, err)
	}
	p.Await("claim "+name+" is being deleted", func() string {
		if claim, found := p.Claims.Named(name); found && claim.DeletionTimestamp == nil {
			return "it is not"
		}
		return ""
	})
}

// createClaim creates a claim before its pod.
func (p *play) createClaim(name string) {
	p.Helper()
	_, err := steady.Core.CoreV1().PersistentVolumeClaims(p.Namespace).Create(p.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"from": "user"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		p.Fatalf("create claim %s: %v", name, err)
	}
	p.awaitClaims(name)
	p.outcome("") // which remembers it
}

// keptClaims fails if a claim that was there at a settled moment is gone, or another one has its name.
func (p *play) keptClaims() {
	p.Helper()
	for name, uids := range p.claims {
		if claim, found := p.Claims.Named(name); !found || claim.UID != uids[0] {
			p.Errorf("expected claim %s to be kept, observed found=%v, UIDs %v", name, found, uids)
		}
	}
}

// hasIdentity fails if a pod has other labels, but for those of its revision and its lifecycle, or is known by other names.
func (p *play) hasIdentity(name string, labels map[string]string, subdomain string) {
	p.Helper()
	pod, _ := p.Pods.Named(name)
	observed := p.podNow(pod).Labels
	delete(observed, appsv1.ControllerRevisionHashLabelKey)
	delete(observed, lifecyclev1alpha1.StateLabel)
	if diff := cmp.Diff(labels, observed); diff != "" {
		p.Errorf("labels of pod %s (-wanted +observed):\n%s", name, diff)
	}
	if pod.Spec.Hostname != name || pod.Spec.Subdomain != subdomain {
		p.Errorf("pod %s: expected its name as host name, below %q, observed %q below %q", name, subdomain, pod.Spec.Hostname, pod.Spec.Subdomain)
	}
}

// awaitLabel waits until a pod has a label.
func (p *play) awaitLabel(name, key, value string) {
	p.Helper()
	p.AwaitPod(name, fmt.Sprintf("the label %s=%s", key, value), func(pod *corev1.Pod) string {
		if pod.Labels[key] != value {
			return fmt.Sprintf("labels %v", pod.Labels)
		}
		return ""
	})
}

// createOrphan creates a pod of the set's labels without an owner.
func (p *play) createOrphan(name string) {
	p.Helper()
	p.Orphan(name, map[string]string{"app": "web"})
}

// awaitClaims waits until the claims of the namespace are these and no others, with their owners: "data-web-0" has none,
// "data-web-1 of Pod web-1" one.
func (p *play) awaitClaims(wanted ...string) {
	p.Helper()
	p.Await(fmt.Sprintf("the claims %q", wanted), func() string {
		var found []string
		for _, claim := range p.Claims.All() {
			words := []string{claim.Name}
			if claim.DeletionTimestamp != nil {
				words = append(words, "terminating")
			}
			for _, owner := range claim.OwnerReferences {
				words = append(words, "of", owner.Kind, owner.Name)
			}
			found = append(found, strings.Join(words, " "))
		}
		slices.Sort(found)
		if !slices.Equal(found, wanted) {
			return fmt.Sprintf("%q", found)
		}
		return ""
	})
}

// awaitRevisions waits until the revisions have these numbers and no others, with the image of each: "3 web:2".
func (p *play) awaitRevisions(wanted ...string) {
	p.Helper()
	p.Await(fmt.Sprintf("the revisions %q", wanted), func() string {
		var found []string
		for _, revision := range p.outcome("").Revisions {
			found = append(found, fmt.Sprintf("%d %s", revision.Number, revision.Template.Spec.Containers[0].Image))
		}
		if !slices.Equal(found, wanted) {
			return fmt.Sprintf("%q", found)
		}
		return ""
	})
}
