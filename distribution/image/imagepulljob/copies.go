// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/images"
)

// copyChange is what is to be done about the copy of a pull secret.
type copyChange struct {
	// want is the copy as it should be, nil for none.
	want *corev1.Secret
	// remove says that the copy that is there has to go first.
	remove bool
	// problem says why nodes cannot have the secret, empty if they can.
	problem string
}

// planCopy decides about the copy that a job needs of a secret of its namespace.
// Source and present, what there is of the name of the copy, may be nil. (IMG-1.6)
func planCopy(name types.NamespacedName, source, present *corev1.Secret, job types.NamespacedName) copyChange {
	if present != nil {
		if of, ok := images.CopySource(present); !ok || of != name {
			return copyChange{problem: "namespace " + v1alpha1.DaemonConfigNamespace + " has a secret " + present.Name + " that is not its copy"}
		}
	}
	problem := uncopyable(source)
	if problem != "" {
		return copyChange{problem: problem, remove: present != nil}
	}
	copied, _ := images.CopyName(name)
	want := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.DaemonConfigNamespace, Name: copied}}
	replace := present != nil && (present.Type != source.Type || present.Immutable != nil && *present.Immutable)
	if present != nil && !replace {
		want = present.DeepCopy()
	}
	want.Type = source.Type
	key := dockerKeys[source.Type]
	want.Data = map[string][]byte{key: source.Data[key]}
	metav1.SetMetaDataLabel(&want.ObjectMeta, v1alpha1.PullSecretSourceUIDLabel, string(source.UID))
	metav1.SetMetaDataAnnotation(&want.ObjectMeta, v1alpha1.PullSecretSourceAnnotation, name.String())
	setReferences(want, append(referencesOf(present), job))
	if present != nil && equality.Semantic.DeepEqual(want, present) {
		return copyChange{}
	}
	return copyChange{want: want, remove: replace}
}

// dockerKeys are the keys of the credentials in secrets, by their types.
var dockerKeys = map[corev1.SecretType]string{
	corev1.SecretTypeDockerConfigJson: corev1.DockerConfigJsonKey,
	corev1.SecretTypeDockercfg:        corev1.DockerConfigKey,
}

// uncopyable says why nodes cannot have a secret, empty if they can.
func uncopyable(source *corev1.Secret) string {
	if source == nil {
		return "it does not exist"
	}
	if _, isCopy := source.Annotations[v1alpha1.PullSecretSourceAnnotation]; isCopy {
		return "it says to be a copy of another one" // of a namespace that has not agreed
	}
	key, known := dockerKeys[source.Type]
	switch {
	case !known:
		return "it is of type " + string(source.Type) + ", want " + string(corev1.SecretTypeDockerConfigJson)
	case len(source.Data[key]) == 0:
		return "it has no " + key
	}
	return ""
}

// planRelease decides about a copy that a job does not need any more: the last one
// takes it along. What is no copy by now stays.
func planRelease(present *corev1.Secret, job types.NamespacedName) copyChange {
	if caches.JobsOfCopy(present) == nil {
		return copyChange{}
	}
	left := slices.DeleteFunc(referencesOf(present), func(of types.NamespacedName) bool { return of == job })
	switch {
	case len(left) == 0:
		return copyChange{remove: true}
	case len(left) == len(referencesOf(present)):
		return copyChange{}
	}
	want := present.DeepCopy()
	setReferences(want, left)
	return copyChange{want: want}
}

// referencesOf returns the jobs that need a copy, which may be nil.
func referencesOf(copied *corev1.Secret) (jobs []types.NamespacedName) {
	if copied == nil {
		return nil
	}
	return images.CopyReferences(copied)
}

func setReferences(copied *corev1.Secret, jobs []types.NamespacedName) {
	keys := map[string]bool{}
	for _, job := range jobs {
		keys[job.String()] = true
	}
	metav1.SetMetaDataAnnotation(&copied.ObjectMeta, v1alpha1.PullSecretReferencesAnnotation, strings.Join(slices.Sorted(maps.Keys(keys)), ","))
}
