// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/patches"
)

func copyName(name string) string {
	copied, _ := images.CopyName(types.NamespacedName{Namespace: "default", Name: name})
	return copied
}

// copied is the copy of a secret of the namespace default, which jobs need.
func copied(name string, jobs ...string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1alpha1.DaemonConfigNamespace, Name: copyName(name), UID: "copy", ResourceVersion: "5",
			Labels:      map[string]string{v1alpha1.PullSecretSourceUIDLabel: "source"},
			Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: "default/" + name, v1alpha1.PullSecretReferencesAnnotation: strings.Join(jobs, ",")},
		},
		Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}")},
	}
}

// row is a line of testdata/rows.
type row struct {
	// Source is the secret s of the namespace default.
	Source *corev1.Secret
	// Copy is the copy of a secret, after jobs that need it, and Present what is different about it.
	Copy    []string
	Present json.RawMessage
	// Refer has references be to the secrets of users, and not to copies. References are those that stand in a task.
	Refer      bool
	References []v1alpha1.ReferenceObject
}

// TestRows plays the tables of pull secrets, see patches.PlayRows. They show:
//
//	copy          what becomes of the copy of a secret that the job pull needs
//	release       what becomes of it if the job needs it no longer
//	references    the references of a task
func TestRows(t *testing.T) {
	blank := func() row {
		return row{Source: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", UID: "source", Labels: map[string]string{"app": "shop"}},
			Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}"), "more": []byte("x")},
		}}
	}
	patches.PlayRows(t, "testdata/rows", blank, func(t *testing.T, command string, r *row) string {
		of, job, present := types.NamespacedName{Namespace: "default", Name: "s"}, types.NamespacedName{Namespace: "default", Name: "pull"}, r.present(t)
		before := present.DeepCopy()
		defer func() {
			if diff := cmp.Diff(before, present); diff != "" {
				t.Errorf("the copy was changed (-before +after):\n%s", diff)
			}
		}()
		switch command {
		case "copy":
			return showChange(t, planCopy(of, r.Source, present, job))
		case "release":
			return showChange(t, planRelease(present, job))
		}
		p := &planner{Snapshot: snapshot(newJob(t, "pullSecrets: [s]"))}
		p.ReferToSourceSecrets = r.Refer
		return patches.JSON(t, p.withSecrets(r.References))
	})
}

func (r *row) present(t *testing.T) *corev1.Secret {
	if r.Copy == nil {
		return nil
	}
	present := copied(r.Copy[0], r.Copy[1:]...)
	if r.Present != nil {
		if err := json.Unmarshal(r.Present, present); err != nil {
			t.Fatal(err)
		}
	}
	return present
}

func showChange(t *testing.T, change copyChange) (said string) {
	if change.problem != "" {
		said += change.problem + "\n"
	}
	if change.remove {
		said += "remove it\n"
	}
	if change.want != nil {
		said += patches.JSON(t, change.want)
	}
	return said
}
