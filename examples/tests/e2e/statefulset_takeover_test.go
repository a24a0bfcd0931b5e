// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var statefulSets = v1beta1.SchemeGroupVersion.WithResource("statefulsets")

// What OpenKruise 1.4 has left in the cluster: the StatefulSet with all defaults, and the bytes of the revision of its template.
const (
	takenOverStatefulSet = `
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata:
  name: demo
spec:
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Delete}
  podManagementPolicy: Parallel
  replicas: 3
  reserveOrdinals: [1]
  revisionHistoryLimit: 10
  selector: {matchLabels: {app: demo}}
  serviceName: peers
  template:
    metadata: {creationTimestamp: null, labels: {app: demo}}
    spec:
      containers:
      - {image: "nginx:1.21", imagePullPolicy: Always, name: main, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, volumeMounts: [{mountPath: /data, name: data}]}
      dnsPolicy: ClusterFirst
      readinessGates: [{conditionType: InPlaceUpdateReady}]
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
  updateStrategy:
    rollingUpdate: {inPlaceUpdateStrategy: {}, maxUnavailable: 1, minReadySeconds: 0, partition: 0, podUpdatePolicy: InPlaceIfPossible}
    type: RollingUpdate
  volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {creationTimestamp: null, name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}
    status: {phase: Pending}
status:
  availableReplicas: 3
  collisionCount: 0
  currentReplicas: 3
  currentRevision: demo-84bfdf5f78
  labelSelector: app=demo
  observedGeneration: 1
  readyReplicas: 3
  replicas: 3
  updateRevision: demo-84bfdf5f78
  updatedReadyReplicas: 3
  updatedReplicas: 3
`
	takenOverStatefulHash     = "84bfdf5f78"
	takenOverStatefulRevision = `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"demo"}},"spec":{"containers":[{"image":"nginx:1.21","imagePullPolicy":"Always","name":"main","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","volumeMounts":[{"mountPath":"/data","name":"data"}]}],"dnsPolicy":"ClusterFirst","readinessGates":[{"conditionType":"InPlaceUpdateReady"}],"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}}`
)

func testStatefulSetTakeOver(t *testing.T, b *bed) {
	s := b.statefulSetFixture(t)
	s.Cleanup(s.revive)
	if hash := revision.Hash([]byte(takenOverStatefulRevision), nil); hash != takenOverStatefulHash {
		s.Errorf("CS-CR2: expected the hash %s, observed %s", takenOverStatefulHash, hash)
	}
	s.Manager.Kill()
	s.withoutWebhooks()
	set := s.leaveSet(statefulSets, takenOverStatefulSet)
	owner := *metav1.NewControllerRef(set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"))
	s.leaveRevision(owner, takenOverStatefulHash, takenOverStatefulRevision)
	for _, ordinal := range []int{0, 2, 3} {
		s.leaveOrdinal(set, owner, ordinal)
	}
	before, claims := s.awaitLeftInService(3), s.Claims.All()
	s.expect("demo", 3, 4)
	if err := s.Manager.Start(); err != nil {
		s.Fatalf("start the manager: %v", err)
	}
	s.awaitIdle("statefulset-controller")
	s.wroteToPods(nil, map[string]int{"patch persistentvolumeclaims": 1})
	saved := map[string]int{"patch persistentvolumeclaims": 1, "patch statefulsets/status": 1} // which lacked updatedAvailableReplicas
	s.AwaitAsking("STS-24: a take-over saves the claim of pod demo-3, counts available pods, and writes nothing else", func() string { return cmp.Diff(saved, s.Writes()) })
	s.Await("STS-23: the StatefulSet owns the claim of pod demo-3", func() string {
		claim, _ := s.Claims.Named("data-demo-3")
		return cmp.Diff([]metav1.OwnerReference{ownerOfClaim(owner)}, claim.OwnerReferences)
	})

	s.edit("demo", s.spec(`{replicas: 4}`))
	s.awaitSettled("demo")
	s.keptBudget("demo") // no pod was out of service at any moment
	s.restarted("demo", "main", "nginx:1.21", 0)
	s.created(4)
	s.wroteToPods(nil, map[string]int{
		"create pods": 1, "patch pods/status": 1, "create persistentvolumeclaims": 1, "patch persistentvolumeclaims": 1})
	if status := s.set("demo").Status; status.CurrentRevision != "demo-"+takenOverStatefulHash || status.UpdateRevision != status.CurrentRevision || len(s.Revisions.All()) != 1 {
		s.Errorf("CS-CR6: expected the revision demo-%s alone, observed %+v and %v", takenOverStatefulHash, status, testbed.Names(s.Revisions.All()))
	}
	s.updatedAfterTakeOver(before, mainImage("nginx:1.22"))
	s.keptClaims(claims)
}

// awaitIdle waits until a controller of the manager has looked at everything there is.
func (s *fixture[T]) awaitIdle(controller string) {
	s.Helper()
	number := func(metrics, name string) string {
		of := fmt.Sprintf(`(?m)^%s\{controller="%s",name="%s"\} (.*)$`, name, controller, controller)
		if found := regexp.MustCompile(of).FindStringSubmatch(metrics); found != nil {
			return found[1]
		}
		return ""
	}
	s.AwaitAsking(controller+" has nothing more to do", func() string {
		metrics, err := s.Manager.Get(s.Manager.Metrics, "/metrics")
		if err != nil {
			return err.Error()
		}
		added, done := number(metrics, "workqueue_adds_total"), number(metrics, "workqueue_work_duration_seconds_count")
		if added == "" || added == "0" || added != done {
			return fmt.Sprintf("%q keys added, %q done", added, done)
		}
		return ""
	})
}

// ownerOfClaim is an owner as claims have it, who does not control them.
func ownerOfClaim(owner metav1.OwnerReference) metav1.OwnerReference {
	owner.Controller, owner.BlockOwnerDeletion = nil, nil
	return owner
}

// leaveOrdinal stores a pod of a StatefulSet and its claim. Pod 0 was created by an OpenKruise that did not yet know lifecycle
// states and KruisePodReady, and pod 2 was updated in place once. The claim of pod 3 would go with it: OpenKruise takes an
// ordinal that is not below the replicas for one that is scaled away.
func (s *statefulSetFixture) leaveOrdinal(set *v1beta1.StatefulSet, owner metav1.OwnerReference, ordinal int) {
	s.Helper()
	name := fmt.Sprintf("demo-%d", ordinal)
	template := &set.Spec.VolumeClaimTemplates[0]
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{
				"app": "demo", "controller-revision-hash": "demo-" + takenOverStatefulHash,
				"statefulset.kubernetes.io/pod-name": name, "lifecycle.apps.kruise.io/state": "Normal",
			},
			Annotations: map[string]string{"lifecycle.apps.kruise.io/timestamp": "2023-06-01T10:00:00Z"},
		},
		Spec: *set.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, set.Spec.ServiceName
	pod.Spec.Volumes = []corev1.Volume{{Name: template.Name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: template.Name + "-" + name}}}}
	gates := []corev1.PodConditionType{"InPlaceUpdateReady", "KruisePodReady"}
	switch ordinal {
	case 0:
		delete(pod.Labels, "lifecycle.apps.kruise.io/state")
		pod.Annotations, gates = nil, gates[:1]
	case 2:
		pod.Annotations["apps.kruise.io/inplace-update-state"] = updatedBefore("demo-" + takenOverStatefulHash)
	}
	stored := s.leavePod(pod, gates...)

	if ordinal == 3 {
		owner = *metav1.NewControllerRef(stored, corev1.SchemeGroupVersion.WithKind("Pod"))
	}
	if _, err := s.Core.CoreV1().PersistentVolumeClaims(s.Namespace).Create(s.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: template.Name + "-" + name, Labels: map[string]string{"app": "demo"},
			OwnerReferences: []metav1.OwnerReference{ownerOfClaim(owner)},
		},
		Spec: template.Spec,
	}, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create the claim of pod %s: %v", name, err)
	}
}
