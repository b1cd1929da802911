package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/internal/store"
)

var _ assistant.Store = (*Store)(nil)

const (
	insertAssistant  = `INSERT INTO assistants (id, owner, version, versions, data) VALUES (?, ?, 1, 1, ?) ON CONFLICT DO NOTHING`
	countAssistants  = `SELECT count(*) FROM assistants WHERE owner = ?`
	selectAssistants = `SELECT id, owner, version, data FROM assistants`
	insertVersion    = `INSERT INTO assistant_versions (assistant, version, data) VALUES (?, ?, ?)`
	selectVersions   = `SELECT a.id, a.owner, v.version, v.data FROM assistants a JOIN assistant_versions v ON v.assistant = a.id WHERE a.id = ?`
	nextVersion      = `UPDATE assistants SET versions = versions + 1, version = versions + 1, data = ? WHERE id = ? AND version = ? RETURNING version`
	setVersion       = `UPDATE assistants SET version = v.version, data = v.data FROM assistant_versions v
		WHERE assistants.id = ?1 AND v.assistant = ?1 AND v.version = ?2`
)

// CreateAssistant implements [assistant.Store].
func (s *Store) CreateAssistant(ctx context.Context, a assistant.Assistant, most int) error {
	data, err := s.doc.pack(a)
	if err != nil {
		return fmt.Errorf("encoding the assistant: %w", err)
	}
	return s.write(ctx, "creating the assistant", func(tx *store.Tx) error {
		res, err := tx.Exec(insertAssistant, a.ID, a.Owner, data)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, assistant.ErrExists)
		}
		var has int
		if err := tx.QueryRow(countAssistants, a.Owner).Scan(&has); err != nil {
			return fmt.Errorf("counting the user's assistants: %w", err)
		}
		if has > most {
			return assistant.ErrFull
		}
		_, err = tx.Exec(insertVersion, a.ID, 1, data)
		return err
	})
}

// Assistant implements [assistant.Store].
func (s *Store) Assistant(ctx context.Context, id string) (assistant.Assistant, error) {
	a, err := s.scanAssistant(s.db.Read().QueryRowContext(ctx, selectAssistants+` WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return a, assistant.ErrNotFound
	}
	return a, s.fault("reading the assistant", err)
}

// Assistants implements [assistant.Store].
func (s *Store) Assistants(ctx context.Context, owner string) iter.Seq2[assistant.Assistant, error] {
	if owner == "" {
		return each(ctx, s, "listing assistants", s.scanAssistant, selectAssistants+` ORDER BY id`)
	}
	return each(ctx, s, "listing assistants", s.scanAssistant, selectAssistants+` WHERE owner = ? ORDER BY id`, owner)
}

// AddVersion implements [assistant.Store].
func (s *Store) AddVersion(ctx context.Context, a assistant.Assistant, most int) (kept assistant.Assistant, changed bool, err error) {
	data, err := s.doc.pack(a)
	if err != nil {
		return a, false, fmt.Errorf("encoding the assistant: %w", err)
	}
	kept = a
	err = s.write(ctx, "changing the assistant", func(tx *store.Tx) error {
		changed = false
		switch err := tx.QueryRow(nextVersion, data, a.ID, a.Version).Scan(&kept.Version); {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		case kept.Version > most:
			return assistant.ErrFull
		}
		changed = true
		_, err := tx.Exec(insertVersion, a.ID, kept.Version, data)
		return err
	})
	return kept, changed && err == nil, err
}

// AssistantVersions implements [assistant.Store].
func (s *Store) AssistantVersions(ctx context.Context, id string) (list []assistant.Assistant, err error) {
	for a, err := range each(ctx, s, "listing versions", s.scanAssistant, selectVersions+` ORDER BY v.version DESC`, id) {
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// SetVersion implements [assistant.Store].
func (s *Store) SetVersion(ctx context.Context, id string, version int) (assistant.Assistant, error) {
	err := s.write(ctx, "changing the version of the assistant", func(tx *store.Tx) error {
		res, err := tx.Exec(setVersion, id, version)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, assistant.ErrVersionNotFound)
		}
		return nil
	})
	if err != nil {
		return assistant.Assistant{}, err
	}
	return s.Assistant(ctx, id)
}

// DeleteAssistant implements [assistant.Store].
func (s *Store) DeleteAssistant(ctx context.Context, id string) error {
	return s.write(ctx, "deleting the assistant", func(tx *store.Tx) error {
		for _, part := range []string{`DELETE FROM assistant_versions WHERE assistant = ?`, `DELETE FROM assistants WHERE id = ?`} {
			if _, err := tx.Exec(part, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) scanAssistant(row interface{ Scan(...any) error }) (a assistant.Assistant, err error) {
	var (
		id, owner string
		version   int
		data      any
	)
	if err := row.Scan(&id, &owner, &version, &data); err != nil {
		return a, err
	}
	if err := s.doc.unpack(data, &a); err != nil {
		return a, fmt.Errorf("decoding the assistant: %w", err)
	}
	a.ID, a.Owner, a.Version = id, owner, version
	return a, nil
}
