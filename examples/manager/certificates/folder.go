package certificates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Folder keeps the bundle in the files of a directory, for a manager outside
// the cluster. The directory is made when it is missing.
//
// Each file is replaced as a whole. Where a process dies between two of them, or
// two processes write at the same time, the set does not pass Bundle.Check, and
// the next Ensure renews it.
type Folder struct{ Path string }

// Load implements Store. The version is not used: a folder has one user.
func (f Folder) Load(context.Context) (Bundle, string, error) {
	data := map[string][]byte{}
	for key := range (Bundle{}).Data() {
		content, err := os.ReadFile(filepath.Join(f.Path, key))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Bundle{}, "", fmt.Errorf("reading the webhook certificates: %w", err)
		}
		data[key] = content
	}
	return FromData(data), "", nil
}

// Save implements Store. Keys are readable by their owner only.
func (f Folder) Save(_ context.Context, bundle Bundle, _ string) error {
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return fmt.Errorf("making the folder of the webhook certificates: %w", err)
	}
	data := bundle.Data()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if err := replaceFile(filepath.Join(f.Path, key), data[key]); err != nil {
			return fmt.Errorf("writing the webhook certificates: %w", err)
		}
	}
	return nil
}

// replaceFile writes to a temporary file beside the target and renames it, so
// that readers see the old content or the new one.
func replaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone after the rename
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
