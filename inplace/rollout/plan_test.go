// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
)

// A plan, one decision a line.
func ExamplePlan_String() {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	web3, web4 := &corev1.Pod{ObjectMeta: named("web-3")}, &corev1.Pod{ObjectMeta: named("web-4")}
	update := &appsv1.ControllerRevision{ObjectMeta: named("web-2")}
	fmt.Println(rollout.Plan{
		Revisions:    revision.Changes{Current: update, Update: update},
		Problems:     []rollout.Problem{{Condition: "FailedUpdate", Err: errors.New("pod web-5: broken")}, {Condition: "FailedScale"}},
		CreateClaims: []*corev1.PersistentVolumeClaim{{ObjectMeta: named("data-web-1")}},
		PatchClaims:  []rollout.ClaimPatch{{Claim: &corev1.PersistentVolumeClaim{ObjectMeta: named("data-web-3")}, Owners: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web"}, {Kind: "Pod", Name: "web-3"}}}},
		Stages:       rollout.Stages{Stage: rollout.Stage{Delete: []rollout.PodDeletion{{Pod: web3, For: rollout.DeleteForUpdate}}}},
		Waiting:      []rollout.Wait{rollout.PodWaits(web4, &rollout.Reason{Rule: rollout.RulePaused, Message: "paused"}), rollout.PodWaits(nil, &rollout.Reason{Rule: rollout.RuleClaimInUse})},
		PreDownload: rollout.PreDownload{Create: []*distributionv1alpha1.ImagePullJob{{
			ObjectMeta: named("web-2-main"), Spec: distributionv1alpha1.ImagePullJobSpec{Image: "nginx:2"}}}, Delete: []string{"old"}, Reason: "later"},
		RequeueAfter: 5 * time.Second,
	})
	fmt.Println(rollout.Plan{})
	fmt.Println(rollout.Plan{RequeueAfter: time.Nanosecond})
	fmt.Println(rollout.ClaimPatch{Claim: &corev1.PersistentVolumeClaim{ObjectMeta: named("data-web-3")}})
	// Output:
	// update revision web-2
	// problem FailedUpdate: pod web-5: broken
	// problem FailedScale
	// create claim data-web-1
	// change owners of claim data-web-3: StatefulSet web Pod web-3
	// delete pod web-3 (Update)
	// wait web-4: paused
	// wait new pods: ClaimInUse
	// create ImagePullJob web-2-main for image nginx:2
	// delete ImagePullJob old
	// no images are pulled ahead: later
	// reconcile again in 5s
	// no revision
	// no revision
	// reconcile again in 1ns
	// change owners of claim data-web-3: none
}
