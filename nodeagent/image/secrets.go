// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// secretAge is how long a secret that was read counts as current. (IMG-3.2)
const secretAge = 5 * time.Minute

// secrets reads pull secrets one by one, and remembers each for a while. It never
// lists or watches them.
type secrets struct {
	kubernetes kubernetes.Interface
	clock      clock.PassiveClock
	everywhere bool // see Options.ReadSourceSecrets

	lock  sync.Mutex
	known map[v1alpha1.ReferenceObject]knownSecret
}

type knownSecret struct {
	// of is the secret that a job has named, of whose copy this is the content;
	// empty if it is not known.
	of          types.NamespacedName
	credentials []credential
	read        time.Time
}

// noNamespace stands for a namespace that no owner of a task has, so that none is told: the name of a namespace has no slash.
const noNamespace = "/"

// unreadableSecret is a secret about which the API server has not answered.
type unreadableSecret struct {
	of    v1alpha1.ReferenceObject
	owner string // the namespace of which it is, or noNamespace
	err   error
}

func (e *unreadableSecret) Error() string {
	return fmt.Sprintf("read secret %s/%s, which may hold the credentials: %v", e.of.Namespace, e.of.Name, e.err)
}

func (e *unreadableSecret) Unwrap() error { return e.err }

// of returns the credentials in the secrets that an attempt may use. The notes say
// what was left out and why.
func (k *secrets) of(ctx context.Context, s *Start) (all []credential, notes []*failure, err error) {
	for _, of := range s.Secrets {
		credentials, note, err := k.secret(ctx, of, s.Namespaces)
		if err != nil {
			return nil, nil, err
		}
		if note != nil {
			klog.FromContext(ctx).Info("A secret is left out", "reason", note.Error())
			notes = append(notes, note)
		}
		all = append(all, credentials...)
	}
	return all, notes, nil
}

// secret returns the credentials in a secret. One that does not exist, may not be
// read or holds none is left out, with a note that says so. (IMG-3.2) One of a
// namespace that does not own the task is left out without a word. (IMG-3.9)
func (k *secrets) secret(ctx context.Context, of v1alpha1.ReferenceObject, owners []string) (all []credential, note *failure, err error) {
	of.Mode = "" // it says when the reference goes, and nothing of the secret
	source, mine := owned(of, owners)
	switch {
	case of.Namespace == "" || of.Name == "":
		return nil, leftOut(source, errors.New("the reference lacks the namespace or the name")), nil
	case of.Namespace != v1alpha1.DaemonConfigNamespace && !mine:
		return nil, nil, nil
	case of.Namespace != v1alpha1.DaemonConfigNamespace && !k.everywhere:
		return nil, leftOut(source, fmt.Errorf("it is not in namespace %s, and the agent reads no other", v1alpha1.DaemonConfigNamespace)), nil
	}
	known, err := k.read(ctx, of)
	var unreadable *unreadableSecret
	if errors.As(err, &unreadable) {
		unreadable.owner = source.Namespace
		return nil, nil, unreadable
	}
	if known.of.Namespace != "" { // it says itself whose it is
		source = known.of
		mine = owners == nil || slices.Contains(owners, source.Namespace)
	}
	switch {
	case !mine:
		return nil, nil, nil
	case err != nil:
		return nil, leftOut(source, err), nil
	}
	for _, c := range known.credentials {
		c.owner = source.Namespace
		all = append(all, c)
	}
	return all, nil, nil
}

// owned returns the secret that a reference means, and whether it is one of the
// namespaces. Of a copy the name says it; if that says nothing, its namespace is noNamespace
// until it is read. A task without an owner may use all.
func owned(of v1alpha1.ReferenceObject, owners []string) (source types.NamespacedName, mine bool) {
	source = images.Referred(of)
	if of.Namespace != v1alpha1.DaemonConfigNamespace {
		return source, owners == nil || slices.Contains(owners, of.Namespace)
	}
	for _, owner := range owners {
		if name, ok := images.SourceName(of.Name, owner); ok {
			return types.NamespacedName{Namespace: owner, Name: name}, true
		}
	}
	source.Namespace = noNamespace
	return source, owners == nil
}

// leftOut says why a secret was left out, to the namespace that it is of.
func leftOut(source types.NamespacedName, why error) *failure {
	name := source.String()
	if source.Namespace == noNamespace {
		name = v1alpha1.DaemonConfigNamespace + noNamespace + source.Name
	}
	return failureOf(source.Namespace, fmt.Errorf("secret %s was left out: %w", name, why), nil)
}

// read returns what is in a secret, or why there is nothing; an unreadableSecret
// if that is not known. Also with an error it says whose secret it is, if
// that is known.
func (k *secrets) read(ctx context.Context, of v1alpha1.ReferenceObject) (knownSecret, error) {
	known, found := k.remembered(of)
	if found && k.clock.Since(known.read) < secretAge {
		return known, nil
	}
	secret, err := k.kubernetes.CoreV1().Secrets(of.Namespace).Get(ctx, of.Name, metav1.GetOptions{ResourceVersion: "0"})
	switch {
	case apierrors.IsNotFound(err):
		k.forget([]v1alpha1.ReferenceObject{of})
		return knownSecret{}, errors.New("it does not exist")
	case apierrors.IsForbidden(err):
		k.forget([]v1alpha1.ReferenceObject{of})
		return knownSecret{}, errors.New("the agent may not read it")
	case err != nil && found:
		return known, nil // better than none
	case err != nil:
		return knownSecret{}, &unreadableSecret{of: of, err: err}
	}
	known = knownSecret{of: sourceOf(secret), read: k.clock.Now()}
	if known.credentials, err = secretCredentials(secret); err != nil {
		return known, err
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	k.known[of] = known
	return known, nil
}

// sourceOf returns the secret that a job has named: of a copy, that of which it is one.
func sourceOf(secret *corev1.Secret) types.NamespacedName {
	if secret.Namespace != v1alpha1.DaemonConfigNamespace {
		return types.NamespacedName{Namespace: secret.Namespace, Name: secret.Name}
	}
	if source, ok := images.CopySource(secret); ok {
		return source
	}
	return types.NamespacedName{Namespace: noNamespace, Name: secret.Name}
}

// remembered returns a secret that was read before. Those for which no task has
// asked for long are dropped.
func (k *secrets) remembered(of v1alpha1.ReferenceObject) (knownSecret, bool) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for other, known := range k.known {
		if other != of && k.clock.Since(known.read) >= 2*secretAge {
			delete(k.known, other)
		}
	}
	known, found := k.known[of]
	return known, found
}

// forget has secrets be read anew.
func (k *secrets) forget(secrets []v1alpha1.ReferenceObject) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for _, of := range secrets {
		of.Mode = ""
		delete(k.known, of)
	}
}
