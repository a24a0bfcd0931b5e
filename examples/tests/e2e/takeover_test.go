// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// What OpenKruise 1.4 has left in the cluster. The bytes of the revision are those that it computes for this template,
// and its name is the hash of the bytes.
const (
	takenOverSet = `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata:
  name: demo
spec:
  replicas: 3
  revisionHistoryLimit: 10
  scaleStrategy: {}
  selector: {matchLabels: {app: demo}}
  template:
    metadata: {creationTimestamp: null, labels: {app: demo}}
    spec:
      containers:
      - {image: "nginx:1.21", imagePullPolicy: Always, name: main, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
  updateStrategy: {maxSurge: 0, maxUnavailable: 1, partition: 0, type: InPlaceIfPossible, inPlaceUpdateStrategy: {}}
status:
  availableReplicas: 3
  collisionCount: 0
  currentRevision: demo-75d46fb977
  expectedUpdatedReplicas: 3
  labelSelector: app=demo
  observedGeneration: 1
  readyReplicas: 3
  replicas: 3
  updateRevision: demo-75d46fb977
  updatedReadyReplicas: 3
  updatedReplicas: 3
`
	takenOverRevision = `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"demo"}},"spec":{"containers":[{"image":"nginx:1.21","imagePullPolicy":"Always","name":"main","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}}`

	// An OpenKruise that did not yet write pod-template-hash and KruisePodReady created the pod of the first name. The
	// other pod was updated in place once.
	oldPod, updatedPod = "demo-bbbbb", "demo-ccccc"
)

func testTakeOver(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.Cleanup(s.revive)
	s.Manager.Kill()
	s.withoutWebhooks()
	set := s.leaveSet(cloneSets, takenOverSet)
	owner := *metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet"))
	s.leaveRevision(owner, "75d46fb977", takenOverRevision)
	for _, name := range []string{"demo-2xkq7", oldPod, updatedPod} {
		s.leaveClonePod(set, owner, name)
	}
	before := s.awaitLeftInService(3)
	s.expect("demo", 3, 4)
	if err := s.Manager.Start(); err != nil {
		s.Fatalf("start the manager: %v", err)
	}

	s.AwaitPod(oldPod, "CS-26: the label that is missing is written, so the manager has seen all", func(pod *corev1.Pod) string {
		if got := pod.Labels["pod-template-hash"]; got != "75d46fb977" {
			return fmt.Sprintf("pod-template-hash is %q", got)
		}
		return ""
	})
	s.edit("demo", replicas(4)) // whatever the manager wants to change, it changes before this is done
	s.awaitStatus("demo", "the set is settled with a fourth pod", s.unsettled)
	s.keptBudget("demo") // no pod was out of service at any moment
	s.restarted("demo", "main", "nginx:1.21", 0)
	s.deletedOnly()
	s.created(4)
	if status := s.set("demo").Status; status.CurrentRevision != "demo-75d46fb977" || status.UpdateRevision != "demo-75d46fb977" || len(s.Revisions.All()) != 1 {
		s.Errorf("CS-CR6: expected the revision demo-75d46fb977 alone, observed %+v and %v", status, testbed.Names(s.Revisions.All()))
	}

	s.updatedAfterTakeOver(before, image("nginx:1.22"))
}

// withoutWebhooks lets workloads be written while no manager runs. The manager registers its webhooks again when it starts.
func (s *fixture[T]) withoutWebhooks() {
	s.Helper()
	admission := s.Core.AdmissionregistrationV1()
	err := admission.MutatingWebhookConfigurations().Delete(s.Context(), manager.MutatingName, metav1.DeleteOptions{})
	if err == nil {
		err = admission.ValidatingWebhookConfigurations().Delete(s.Context(), manager.ValidatingName, metav1.DeleteOptions{})
	}
	if err != nil {
		s.Fatalf("remove the webhook configurations: %v", err)
	}
	s.AwaitAsking("the API server has forgotten the webhooks", func() string {
		_, err := s.workloads.CloneSets(s.Namespace).Create(s.Context(), cloneSet("asked", 1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err.Error()
		}
		return ""
	})
}

// leaveSet stores a workload and its status, with the very fields that OpenKruise has written.
func (s *fixture[T]) leaveSet(resource schema.GroupVersionResource, manifest string) T {
	s.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
		s.Fatal(err)
	}
	status := object["status"]
	delete(object, "status")
	sets := s.Dynamic.Resource(resource).Namespace(s.Namespace)
	created, err := sets.Create(s.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create %s: %v", s.kind.name, err)
	}
	created.Object["status"] = status
	if _, err := sets.UpdateStatus(s.Context(), created, metav1.UpdateOptions{}); err != nil {
		s.Fatalf("write the status of %s %s: %v", s.kind.name, created.GetName(), err)
	}
	return s.set(created.GetName())
}

// leaveRevision stores the revision of a workload, named after its hash.
func (s *fixture[T]) leaveRevision(owner metav1.OwnerReference, hash, data string) {
	s.Helper()
	_, err := s.Core.AppsV1().ControllerRevisions(s.Namespace).Create(s.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: owner.Name + "-" + hash, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{"app": owner.Name, "controller.kubernetes.io/hash": hash},
		},
		Data:     runtime.RawExtension{Raw: []byte(data)},
		Revision: 1,
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create the ControllerRevision: %v", err)
	}
}

// leavePod stores a pod whose readiness gates are these, all of them met, and returns what was stored.
func (s *fixture[T]) leavePod(pod *corev1.Pod, gates ...corev1.PodConditionType) *corev1.Pod {
	s.Helper()
	pod.Spec.ReadinessGates = nil
	var conditions []any
	for _, gate := range gates {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: gate})
		conditions = append(conditions, map[string]any{"type": gate, "status": "True"})
	}
	stored, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create pod %s: %v", pod.Name, err)
	}
	s.PatchPod(pod.Name, map[string]any{"status": map[string]any{"conditions": conditions}}, "status")
	return stored
}

// updatedBefore is what OpenKruise has left on a pod that it has updated in place.
func updatedBefore(revision string) string {
	return `{"revision":"` + revision + `","updateTimestamp":"2023-06-01T10:00:00Z","lastContainerStatuses":{"main":{"imageID":"nginx@sha256:0000"}},"containerBatchesRecord":[{"timestamp":"2023-06-01T10:00:00Z","containers":["main"]}]}`
}

// leaveClonePod stores a pod of a CloneSet.
func (s *cloneSetFixture) leaveClonePod(set *v1alpha1.CloneSet, owner metav1.OwnerReference, name string) {
	s.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{
				"app": "demo", "controller-revision-hash": "demo-75d46fb977", "pod-template-hash": "75d46fb977",
				"apps.kruise.io/cloneset-instance-id": name[len("demo-"):], "lifecycle.apps.kruise.io/state": "Normal",
			},
			Annotations: map[string]string{"lifecycle.apps.kruise.io/timestamp": "2023-06-01T10:00:00Z"},
		},
		Spec: *set.Spec.Template.Spec.DeepCopy(),
	}
	gates := []corev1.PodConditionType{"InPlaceUpdateReady", "KruisePodReady"}
	switch name {
	case oldPod:
		delete(pod.Labels, "pod-template-hash")
		gates = gates[:1]
	case updatedPod:
		pod.Annotations["apps.kruise.io/inplace-update-state"] = updatedBefore("demo-75d46fb977")
	}
	s.leavePod(pod, gates...)
}

// awaitLeftInService waits until the pods that have been left are in service, and returns them.
func (s *fixture[T]) awaitLeftInService(wanted int) []*corev1.Pod {
	s.Helper()
	s.Await("the pods are in service before the takeover", func() string {
		if n := s.inService("demo"); n != wanted {
			return fmt.Sprintf("%d are", n)
		}
		return ""
	})
	return s.owned("demo")
}

// updatedAfterTakeOver updates the workload: in place, since it is ours now.
func (s *fixture[T]) updatedAfterTakeOver(before []*corev1.Pod, update func(T)) {
	s.Helper()
	s.edit("demo", update)
	s.awaitSettled("demo")
	s.deletedOnly()
	for _, pod := range before {
		s.AwaitPod(pod.Name, "updated in place", func(now *corev1.Pod) string {
			if status := podstate.ContainerStatus(now, "main"); now.UID != pod.UID || status.Image != "nginx:1.22" || status.RestartCount != 1 {
				return podstate.Describe(now, false)
			}
			return ""
		})
	}
}
