// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	fakefixture "github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// failure is what the API server, or the network, answers. It is nil for a name that is none.
func failure(name string) error {
	if code, err := strconv.Atoi(name); err == nil {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Message: "injected"}}
	}
	return failures[name]
}

var failures = map[string]error{
	"quota": fakefixture.ErrQuota, "lost": fakefixture.ErrLost, "internal": fakefixture.ErrInternal,
	"conflict":           apierrors.NewConflict(corev1.Resource("pods"), "web-0", errors.New("changed")),
	"taken":              apierrors.NewAlreadyExists(corev1.Resource("pods"), "taken"),
	"invalid":            apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "web-0", nil),
	"not-found":          apierrors.NewNotFound(corev1.Resource("pods"), "web-0"),
	"no-dry-run":         apierrors.NewBadRequest("admission webhook does not support dry run"),
	"ending":             forbidden(corev1.NamespaceTerminatingCause),
	"too-small":          forbidden(nodeTooSmall),
	"not-on-platform":    forbidden(notOnPlatform),
	"refused-resize":     &rollout.ResizeError{Err: errors.New("refused")},
	"unsupported-resize": &rollout.ResizeError{Err: errors.New("refused"), Unsupported: true},
}

func forbidden(cause metav1.CauseType) error {
	err := apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("injected"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: cause}}
	return err
}

// ours has a function decide about requests of the controller.
func (w *world) ours(decide func(fakecluster.Request) error) {
	w.FailBefore(func(r fakecluster.Request) error {
		if r.User != "controller" {
			return nil
		}
		return decide(r)
	})
}

// others plays a step of others.
func (w *world) others(s step) bool {
	kube, ctx := w.c.Kube, w.c.T.Context()
	claims, revisions := kube.CoreV1().PersistentVolumeClaims("default"), kube.AppsV1().ControllerRevisions("default")
	var err error
	switch s.name {
	case "pod":
		for _, pod := range w.existing(s.words...) {
			w.pods[pod.Name] = pod
		}
	case "remove":
		w.c.RemovePod(s.words[0])
	case "replace":
		w.c.RemovePod(s.words[0])
		w.existing(s.words[0])
	case "label":
		w.c.PatchPod(s.words[0], `{"metadata":{"labels":{"a":"b"}}}`)
	case "claim":
		w.existingClaim(s.words[0], func(c *corev1.PersistentVolumeClaim) {
			if s.has("held") {
				c.Finalizers = []string{"example.com/protection"}
			}
			for _, uid := range s.list("owners") {
				c.OwnerReferences = append(c.OwnerReferences, owner(types.UID(uid)))
			}
			if s.has("controlled") {
				c.OwnerReferences = controlled()
			}
		})
		w.claims[s.words[0]], err = claims.Get(ctx, s.words[0], metav1.GetOptions{})
	case "remove-claim":
		err = claims.Delete(ctx, s.words[0], metav1.DeleteOptions{})
	case "replace-claim":
		w.c.Must(claims.Delete(ctx, s.words[0], metav1.DeleteOptions{}))
		w.existingClaim(s.words[0], nil)
	case "share-claim":
		_, err = claims.Patch(ctx, s.words[0], types.StrategicMergePatchType,
			[]byte(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"others"}]}}`), metav1.PatchOptions{})
	case "revision":
		w.revisions[s.words[0]] = w.stored(w.revision(s))
	case "remove-revision":
		w.removeRevision(s.words[0])
	case "replace-revision":
		w.removeRevision(s.words[0])
		w.stored(history(s.words[0], "mine"))
	case "raise-revision":
		_, err = revisions.Patch(ctx, s.words[0], types.MergePatchType, []byte(`{"revision":9}`), metav1.PatchOptions{})
	case "remove-set":
		w.c.Delete()
	case "finalize-set":
		w.c.Edit(`{"metadata":{"finalizers":["example.com/other"]}}`)
	case "edit-set":
		w.set.Generation++
	case "recreate-set":
		w.c.Delete()
		w.c.Create(newSet(), "")
	case "label-set":
		w.c.Edit(`{"metadata":{"labels":{"a":"b"}}}`)
	case "report-set":
		w.c.Edit(`{"status":{"readyReplicas":7}}`, "status")
	case "admission":
		w.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
			if r.Verb == "create" {
				object.SetLabels(relabelled(object.GetLabels(), s.values))
			}
		})
	case "fail":
		what, also := strings.Join(s.words, " "), s.values["also"]
		w.ours(func(r fakecluster.Request) error {
			if strings.HasPrefix(r.String()+" "+r.Name, what) || r.Verb == also {
				return failure(s.values["with"])
			}
			return nil
		})
	case "fail-dry-run":
		w.ours(func(r fakecluster.Request) error {
			if !r.DryRun {
				return nil
			}
			return failure(s.words[0])
		})
	case "heal":
		w.FailBefore(nil)
	case "meanwhile":
		w.meanwhile(s)
	default:
		return false
	}
	w.c.Must(err)
	return true
}

// relabelled are labels with others, and without those that have no value.
func relabelled(labels, to map[string]string) map[string]string {
	labels = maps.Clone(labels)
	for key, value := range to {
		if labels == nil {
			labels = map[string]string{}
		}
		if labels[key] = value; value == "" {
			delete(labels, key)
		}
	}
	return labels
}

// revision is the one that a step describes.
func (w *world) revision(s step) *appsv1.ControllerRevision {
	r := history(s.words[0], s.words[1])
	if uid := s.values["owner"]; uid != "" {
		if uid == "set" {
			uid = string(w.set.UID)
		}
		r.OwnerReferences = []metav1.OwnerReference{owner(types.UID(uid))}
		r.OwnerReferences[0].Controller = ptr.To(s.has("controller"))
	}
	if s.has("unlabelled") {
		r.Labels = nil
	}
	if s.has("data") {
		r.Data = runtime.RawExtension{Raw: []byte(`{"of":"another"}`)}
	}
	return r
}

// meanwhile has others change the pod web-0 before the first patches of pods.
func (w *world) meanwhile(s step) {
	var times int
	fmt.Sscan(s.words[1], &times)
	w.ours(func(r fakecluster.Request) error {
		if r.String() != "patch pods" || times == 0 {
			return nil
		}
		times--
		pod, err := w.c.Kube.CoreV1().Pods("default").Get(w.c.T.Context(), "web-0", metav1.GetOptions{})
		w.c.Must(err)
		switch s.words[0] {
		case "reports":
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: "False", Reason: pod.ResourceVersion})
		case "restarts":
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", ContainerID: "2"}}
		case "puts-back":
			pod.Status.Conditions = nil
		}
		_, err = w.c.Kube.CoreV1().Pods("default").UpdateStatus(w.c.T.Context(), pod, metav1.UpdateOptions{})
		w.c.Must(err)
		return nil
	})
}

// controlled are the owners of a claim that has a controller.
func controlled() []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Set", Name: "web", UID: "uid", Controller: ptr.To(true)}}
}
