// SPDX-License-Identifier: Apache-2.0

package images

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// copyHash is the length of what follows the name of a source in the name of its
// copy, with the dash.
const copyHash = 1 + 20

// CopyName returns the name that the copy of a pull secret has in
// v1alpha1.DaemonConfigNamespace. It tells namespaces apart; false if the name
// of the source is too long for that.
func CopyName(source types.NamespacedName) (string, bool) {
	const longest = 253
	sum := sha256.Sum256([]byte(source.String()))
	name := source.Name + "-" + hex.EncodeToString(sum[:])[:copyHash-1]
	return name, len(name) <= longest
}

// SourceName returns the name of the secret of which a copy has that name, if it
// is one of that namespace.
func SourceName(copyName, namespace string) (string, bool) {
	if len(copyName) <= copyHash {
		return "", false
	}
	source := copyName[:len(copyName)-copyHash]
	name, _ := CopyName(types.NamespacedName{Namespace: namespace, Name: source})
	return source, name == copyName
}

// SecretReference refers to a secret, without a mode.
func SecretReference(secret types.NamespacedName) v1alpha1.ReferenceObject {
	return v1alpha1.ReferenceObject{Namespace: secret.Namespace, Name: secret.Name}
}

// Referred returns the secret that a reference refers to, whatever its mode.
func Referred(ref v1alpha1.ReferenceObject) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// ReferenceSource returns the name of the secret of a namespace to which a task refers:
// the secret itself, or its copy. False if the reference is to one of another namespace.
func ReferenceSource(ref v1alpha1.ReferenceObject, namespace string) (string, bool) {
	if ref.Namespace == v1alpha1.DaemonConfigNamespace {
		return SourceName(ref.Name, namespace)
	}
	return ref.Name, ref.Namespace == namespace
}

// CopySource returns of which secret an object is the copy; false if it does not
// say so.
func CopySource(object metav1.Object) (types.NamespacedName, bool) {
	namespace, name, found := strings.Cut(object.GetAnnotations()[v1alpha1.PullSecretSourceAnnotation], "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, found && namespace != "" && name != "" && !strings.Contains(name, "/")
}

// CopyReferences returns the jobs that a copy says to be needed by.
func CopyReferences(object metav1.Object) (jobs []types.NamespacedName) {
	for key := range strings.SplitSeq(object.GetAnnotations()[v1alpha1.PullSecretReferencesAnnotation], ",") {
		if namespace, name, found := strings.Cut(key, "/"); found {
			jobs = append(jobs, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	return jobs
}
