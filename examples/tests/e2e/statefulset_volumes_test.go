// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// driver plays a CSI driver: it makes a volume for each claim of its class, and grows volumes while it may, up to ten GiB.
type driver struct {
	*statefulSetFixture
	class string
	holds atomic.Bool // it grows nothing
}

// newDriver starts a driver with a storage class of its own, which lets volumes grow.
func newDriver(s *statefulSetFixture) *driver {
	s.Helper()
	d := &driver{statefulSetFixture: s, class: "elastic-" + s.Namespace}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: d.class}, Provisioner: "played.example.com", AllowVolumeExpansion: new(true)}
	if _, err := steady.Core.StorageV1().StorageClasses().Create(s.Context(), class, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.Tick(50 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick:
			}
			for _, claim := range s.Claims.All() {
				if err := d.act(claim); err != nil && s.Context().Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
					s.Errorf("the played driver: %v", err)
				}
			}
		}
	}()
	s.Cleanup(func() {
		close(done)
		<-stopped
		_ = steady.Core.StorageV1().StorageClasses().Delete(context.Background(), d.class, metav1.DeleteOptions{}) // the context of the test has ended
	})
	return d
}

// act makes the volume of a claim, or grows it.
func (d *driver) act(claim *corev1.PersistentVolumeClaim) error {
	asks := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	volumes, name := steady.Core.CoreV1().PersistentVolumes(), "played-"+string(claim.UID)
	switch {
	case claim.Status.Phase == corev1.ClaimPending:
		_, err := volumes.Create(d.T.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
			StorageClassName: d.class, AccessModes: claim.Spec.AccessModes, Capacity: corev1.ResourceList{corev1.ResourceStorage: asks},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "played.example.com", VolumeHandle: name}},
			ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		}}, metav1.CreateOptions{})
		return err
	case claim.Status.Phase != corev1.ClaimBound || asks.Cmp(*claim.Status.Capacity.Storage()) <= 0 || d.holds.Load():
		return nil
	case asks.Cmp(resource.MustParse("10Gi")) > 0:
		if failedToGrow(claim) {
			return nil
		}
		return d.report(claim, map[string]any{"conditions": append(claim.Status.Conditions[:len(claim.Status.Conditions):len(claim.Status.Conditions)], corev1.PersistentVolumeClaimCondition{
			Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue, Message: "no room for " + asks.String()})})
	}
	grown, _ := json.Marshal(map[string]any{"spec": map[string]any{"capacity": corev1.ResourceList{corev1.ResourceStorage: asks}}})
	if _, err := volumes.Patch(d.T.Context(), name, types.MergePatchType, grown, metav1.PatchOptions{}); err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(claim.Status.Conditions), isResizeError)
	return d.report(claim, map[string]any{"capacity": corev1.ResourceList{corev1.ResourceStorage: asks}, "conditions": left})
}

func isResizeError(c corev1.PersistentVolumeClaimCondition) bool {
	return c.Type == corev1.PersistentVolumeClaimControllerResizeError
}

// failedToGrow tells whether the driver has said that it cannot grow the volume of a claim.
func failedToGrow(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.Status.Conditions, isResizeError)
}

func (d *driver) report(claim *corev1.PersistentVolumeClaim, status map[string]any) error {
	data, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = steady.Core.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(d.T.Context(), claim.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	}
	return err
}

// sized gives the claim template a size.
func (d *driver) sized(size string) func(*v1beta1.StatefulSet) {
	return d.spec(`{volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: ` + d.class + `, accessModes: [ReadWriteOnce], resources: {requests: {storage: ` + size + `}}}}]}`)
}

// sizes are what the claims ask for, by ordinal.
func (d *driver) sizes() string {
	var sizes []string
	for i := range 3 {
		if claim, found := d.Claims.Named(fmt.Sprint("data-web-", i)); found {
			sizes = append(sizes, claim.Spec.Resources.Requests.Storage().String())
		}
	}
	return strings.Join(sizes, " ")
}

// grownTo waits until all claims have a size, and the status says so.
func (d *driver) grownTo(rule, size string) {
	d.Helper()
	want := strings.Join([]string{size, size, size}, " ")
	d.awaitStatus("web", rule+": three claims of "+size, func(set *v1beta1.StatefulSet) string {
		counts := set.Status.VolumeClaims
		if d.sizes() != want || len(counts) != 1 || counts[0].CompatibleReplicas != 3 || counts[0].CompatibleReadyReplicas != 3 {
			return fmt.Sprintf("sizes %s, counts %+v, conditions %+v", d.sizes(), counts, set.Status.Conditions)
		}
		return ""
	})
	d.awaitSettled("web")
}

// told waits for the condition FailedUpdatePod with a text.
func (d *driver) told(rule, text string) {
	d.Helper()
	d.awaitStatus("web", rule+": FailedUpdatePod says "+text, func(set *v1beta1.StatefulSet) string {
		for _, c := range set.Status.Conditions {
			if c.Type == appsv1.StatefulSetConditionType(v1beta1.StatefulSetConditionFailedUpdatePod) && strings.Contains(c.Message, text) {
				return ""
			}
		}
		return fmt.Sprintf("conditions %+v", set.Status.Conditions)
	})
}

// Claims grow pod by pod before their pods are updated, whatever a quota or the driver refuses meanwhile, and none is lost.
func TestStatefulSetVolumesGrow(t *testing.T) {
	t.Parallel()
	d := newDriver(newStatefulSetFixture(t))
	d.run(statefulSet(3, d.sized("1Gi"), d.spec(parallelInPlace), d.spec(`{updateStrategy: {rollingUpdate: {maxUnavailable: 1}}, volumeClaimUpdateStrategy: {type: OnPodRollingUpdate}}`)))
	pods, claims := d.owned("web"), d.Claims.All()
	d.expect("web", 2, 3)

	d.holds.Store(true)
	d.edit("web", d.sized("2Gi"), mainImage("web:2"))
	d.awaitStatus("web", "STS-41: one pod at a time", func(set *v1beta1.StatefulSet) string {
		if counts := set.Status.VolumeClaims; d.sizes() != "1Gi 1Gi 2Gi" || len(counts) != 1 || counts[0].CompatibleReplicas != 1 || counts[0].CompatibleReadyReplicas != 0 {
			return fmt.Sprintf("sizes %s, counts %+v", d.sizes(), counts)
		}
		return ""
	})
	if n := d.updated("web"); n > 0 {
		t.Errorf("STS-41: %d pods are updated before their claims have grown", n)
	}
	d.holds.Store(false)
	d.grownTo("STS-41", "2Gi")
	d.updatedInPlace(pods)

	quotas := steady.Core.CoreV1().ResourceQuotas(d.Namespace)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "storage"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse("6Gi")}}}
	if _, err := quotas.Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	d.AwaitAsking("the quota is known", func() string {
		if q, err := quotas.Get(t.Context(), "storage", metav1.GetOptions{}); err != nil || len(q.Status.Hard) == 0 {
			return fmt.Sprintf("%+v, %v", q, err)
		}
		return ""
	})
	d.edit("web", d.sized("3Gi"))
	d.told("STS-41", "exceeded quota")
	if _, err := quotas.Patch(t.Context(), "storage", types.MergePatchType, []byte(`{"spec":{"hard":{"requests.storage":"500Gi"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	d.grownTo("STS-41: the quota is raised", "3Gi")

	d.edit("web", d.sized("50Gi"))
	d.Await("STS-41: the driver fails", func() string {
		if claim, found := d.Claims.Named("data-web-2"); !found || !failedToGrow(claim) {
			return d.sizes()
		}
		return ""
	})
	d.edit("web", d.sized("4Gi"))
	d.grownTo("STS-43: the template is taken back to more than there is", "4Gi")
	d.edit("web", d.sized("1Gi"))
	d.awaitSettled("web")
	if d.sizes() != "4Gi 4Gi 4Gi" {
		t.Errorf("STS-41: a smaller template makes the claims ask for %s", d.sizes())
	}
	d.keptClaims(claims)
	d.keptBudget("web")
}
