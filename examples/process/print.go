package process

import (
	"fmt"
	"os"
)

// Print returns what prints a result, or the error in the name of a program, and
// returns the exit code: 0, or 1 for an error.
func Print(program string) func(text []byte, err error) int {
	return func(text []byte, err error) int {
		if err == nil {
			_, err = os.Stdout.Write(text)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
			return 1
		}
		return 0
	}
}
