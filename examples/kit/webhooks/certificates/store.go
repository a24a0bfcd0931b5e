// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Store keeps a bundle for the next start and for other replicas.
type Store interface {
	// Load returns what is stored, which may be empty or damaged.
	Load(ctx context.Context) (Bundle, error)
	// Save replaces what Load has returned. If something else stands there now it returns a conflict.
	Save(ctx context.Context, bundle Bundle) error
}

// Ensure returns the bundle of the store. It renews the bundle first if that does not serve the host now, or ends before the
// given time is over (0: half a year). Replicas that start together agree on the bundle that was saved first: the others get
// a conflict, and try again.
func Ensure(ctx context.Context, store Store, host string, now time.Time, before time.Duration) (Bundle, error) {
	bundle, err := store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the webhook certificates: %w", err)
	}
	reason := bundle.Check(host, now, before)
	if reason == nil {
		return bundle, nil
	}
	if bundle, err = Renew(bundle, host, now, before); err != nil {
		return nil, err
	}
	if err := store.Save(ctx, bundle); err != nil {
		return nil, fmt.Errorf("saving new webhook certificates (%w): %w", reason, err)
	}
	return bundle, nil
}

// Secret keeps the bundle in a Secret, which replicas share. It is for one goroutine.
type Secret struct {
	client.ObjectKey
	// Reader may lag behind: what builds on an old state is refused.
	Reader client.Reader
	Writer client.Writer

	loaded *corev1.Secret // nil: there is none
}

// Load implements Store.
func (s *Secret) Load(ctx context.Context) (Bundle, error) {
	s.loaded = &corev1.Secret{}
	err := s.Reader.Get(ctx, s.ObjectKey, s.loaded)
	if apierrors.IsNotFound(err) {
		s.loaded = nil
		return nil, nil
	}
	return s.loaded.Data, err
}

// Save implements Store. Whatever else the Secret holds stays.
func (s *Secret) Save(ctx context.Context, bundle Bundle) error {
	if s.loaded == nil {
		meta := metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}
		return s.Writer.Create(ctx, &corev1.Secret{ObjectMeta: meta, Data: bundle})
	}
	wanted := s.loaded.DeepCopy()
	if wanted.Data == nil {
		wanted.Data = Bundle{}
	}
	maps.Copy(wanted.Data, bundle)
	return s.Writer.Patch(ctx, wanted, client.MergeFromWithOptions(s.loaded, client.MergeFromWithOptimisticLock{}))
}

// Folder keeps the bundle in the files of a directory, for a manager outside the cluster. The directory is made when it
// is missing. If a process dies while it writes, the set does not pass Bundle.Check and is renewed.
type Folder string

// Load implements Store.
func (f Folder) Load(context.Context) (Bundle, error) {
	bundle := Bundle{}
	for _, name := range []string{CAKey, CACert, Key, Cert, tlsKey, tlsCrt} {
		content, err := os.ReadFile(filepath.Join(string(f), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		bundle[name] = content
	}
	return bundle, nil
}

// Save implements Store. Files are readable by their owner only.
func (f Folder) Save(_ context.Context, bundle Bundle) error {
	var errs []error
	for name, content := range bundle {
		errs = append(errs, keyutil.WriteKey(filepath.Join(string(f), name), content))
	}
	return errors.Join(errs...)
}
