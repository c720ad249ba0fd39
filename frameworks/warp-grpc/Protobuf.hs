{-# LANGUAGE MultiWayIf #-}

-- | The part of protobuf's encoding that messages of int32 need.
module Protobuf (Fields, parse, int32, encodeInt32) where

import Data.Bits (shiftL, shiftR, testBit, (.&.), (.|.))
import Data.ByteString (ByteString)
import qualified Data.ByteString as B
import Data.ByteString.Builder (Builder, word8)
import Data.Foldable (foldl')
import Data.Int (Int32)
import Data.Word (Word64)

-- | The varints of a message, each with the number of its field.
type Fields = [(Word64, Word64)]

-- | Reads a message. Other fields than varints are skipped; groups, which proto3 does not have, and
-- what is no protobuf are refused.
parse :: ByteString -> Maybe Fields
parse bytes
  | B.null bytes = Just []
  | otherwise = do
      (tag, value) <- varint bytes
      let field = tag `shiftR` 3
      case (field, tag .&. 7) of
        (0, _) -> Nothing
        (_, 0) -> do
          (number, rest) <- varint value
          ((field, number) :) <$> parse rest
        (_, 1) -> skip 8 value >>= parse
        (_, 2) -> varint value >>= uncurry skip >>= parse
        (_, 5) -> skip 4 value >>= parse
        _ -> Nothing

-- | An int32, or 0 if the message does not have it. The last one counts.
int32 :: Word64 -> Fields -> Int32
int32 wanted = foldl' (\old (field, new) -> if field == wanted then fromIntegral new else old) 0

varint :: ByteString -> Maybe (Word64, ByteString)
varint = go 0 0
  where
    go :: Int -> Word64 -> ByteString -> Maybe (Word64, ByteString)
    go shift value bytes = do
      (byte, rest) <- B.uncons bytes
      let value' = value .|. (fromIntegral (byte .&. 0x7f) `shiftL` shift)
      if
        | not (testBit byte 7) -> Just (value', rest)
        | shift == 63 -> Nothing
        | otherwise -> go (shift + 7) value' rest

skip :: Word64 -> ByteString -> Maybe ByteString
skip count bytes
  | count > fromIntegral (B.length bytes) = Nothing
  | otherwise = Just (B.drop (fromIntegral count) bytes)

-- | A field and its length in bytes. proto3 leaves out what is 0.
encodeInt32 :: Word64 -> Int32 -> (Int, Builder)
encodeInt32 _ 0 = (0, mempty)
encodeInt32 field value = (varintSize tag + varintSize number, putVarint tag <> putVarint number)
  where
    tag = field `shiftL` 3
    number = fromIntegral value

varintSize :: Word64 -> Int
varintSize value
  | value < 0x80 = 1
  | otherwise = 1 + varintSize (value `shiftR` 7)

putVarint :: Word64 -> Builder
putVarint value
  | value < 0x80 = word8 (fromIntegral value)
  | otherwise = word8 (fromIntegral value .|. 0x80) <> putVarint (value `shiftR` 7)
