// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// secretAge is how long a secret that was read counts as current. (IMG-3.2)
const secretAge = 5 * time.Minute

// keyring finds the credentials for an image. It reads secrets one by one, and
// remembers each for a while. It never lists or watches them.
type keyring struct {
	kubernetes kubernetes.Interface
	clock      clock.PassiveClock
	file       string // empty for none

	lock  sync.Mutex
	known map[v1alpha1.ReferenceObject]knownSecret
}

type knownSecret struct {
	credentials []credential
	read        time.Time
}

func newKeyring(o *Options) *keyring {
	return &keyring{kubernetes: o.Kubernetes, clock: o.Clock, file: o.DockerConfig, known: map[v1alpha1.ReferenceObject]knownSecret{}}
}

// unreadableSecret is a secret about which the API server has not answered.
type unreadableSecret struct {
	of  v1alpha1.ReferenceObject
	err error
}

func (e *unreadableSecret) Error() string {
	return fmt.Sprintf("read secret %s/%s, which may hold the credentials: %v", e.of.Namespace, e.of.Name, e.err)
}

func (e *unreadableSecret) Unwrap() error { return e.err }

// lookup returns the credentials to try for an image, in turn: those of its
// secrets, then the node's own. The notes say what was left out and why.
func (k *keyring) lookup(ctx context.Context, s *Start) (auths []*criv1.AuthConfig, notes []error, err error) {
	image, err := images.ParseReference(s.Reference)
	if err != nil {
		return nil, nil, err
	}
	var all []credential
	for _, of := range s.Secrets {
		credentials, note, err := k.secret(ctx, of)
		if err != nil {
			return nil, nil, err
		}
		if note != nil {
			klog.FromContext(ctx).Error(note, "A secret is left out")
			notes = append(notes, note)
		}
		all = append(all, credentials...)
	}
	own, note := k.own()
	if note != nil {
		klog.FromContext(ctx).Error(note, "The credentials of the node are left out")
		notes = append(notes, note)
	}
	return matching(append(all, own...), image), notes, nil
}

// secret returns the credentials in a secret. One that does not exist, may not be
// read or holds none is left out, with a note that says so. (IMG-3.2)
func (k *keyring) secret(ctx context.Context, of v1alpha1.ReferenceObject) (all []credential, note, err error) {
	known, found := k.remembered(of)
	if found && k.clock.Since(known.read) < secretAge {
		return known.credentials, nil, nil
	}
	leftOut := func(why error) ([]credential, error, error) {
		return nil, fmt.Errorf("secret %s/%s was left out: %w", of.Namespace, of.Name, why), nil
	}
	if of.Namespace == "" || of.Name == "" {
		return leftOut(errors.New("the reference lacks the namespace or the name"))
	}
	secret, err := k.kubernetes.CoreV1().Secrets(of.Namespace).Get(ctx, of.Name, metav1.GetOptions{ResourceVersion: "0"})
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		k.forget([]v1alpha1.ReferenceObject{of})
		return leftOut(err)
	case err != nil && found:
		return known.credentials, nil, nil // better than none
	case err != nil:
		return nil, nil, &unreadableSecret{of, err}
	}
	if all, err = secretCredentials(secret); err != nil {
		return leftOut(err)
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	k.known[of] = knownSecret{credentials: all, read: k.clock.Now()}
	return all, nil, nil
}

// remembered returns a secret that was read before. Those of which nobody has
// asked for long are dropped.
func (k *keyring) remembered(of v1alpha1.ReferenceObject) (knownSecret, bool) {
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
func (k *keyring) forget(secrets []v1alpha1.ReferenceObject) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for _, of := range secrets {
		delete(k.known, of)
	}
}

// own returns the node's own credentials.
func (k *keyring) own() ([]credential, error) {
	if k.file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the credentials of the node: %w", err)
	}
	all, err := parseDockerConfig(data)
	if err != nil {
		return nil, fmt.Errorf("file %s %w", k.file, err)
	}
	return all, nil
}
